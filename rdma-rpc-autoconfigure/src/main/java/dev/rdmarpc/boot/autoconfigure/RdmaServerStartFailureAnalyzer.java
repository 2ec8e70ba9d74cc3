/*
 * Copyright 2026 the rdma-rpc authors.
 *
 * Licensed under the Apache License, Version 2.0 (the "License");
 * you may not use this file except in compliance with the License.
 * You may obtain a copy of the License at
 *
 *      https://www.apache.org/licenses/LICENSE-2.0
 *
 * Unless required by applicable law or agreed to in writing, software
 * distributed under the License is distributed on an "AS IS" BASIS,
 * WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
 * See the License for the specific language governing permissions and
 * limitations under the License.
 */

package dev.rdmarpc.boot.autoconfigure;

import java.net.InetSocketAddress;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

import dev.rdmarpc.verbs.VerbsError;

/** Explains why the server cannot listen. */
class RdmaServerStartFailureAnalyzer extends AbstractFailureAnalyzer<RdmaServerStartException> {

	@Override
	protected FailureAnalysis analyze(Throwable rootFailure, RdmaServerStartException cause) {
		InetSocketAddress address = cause.address();
		VerbsError error = cause.reason().error();
		if (error == VerbsError.ADDRESS_IN_USE) {
			return new FailureAnalysis(
					"The RDMA server cannot listen on port " + address.getPort() + " of " + address.getHostString()
							+ ": the port is already in use.",
					"Identify and stop the process that is listening on port " + address.getPort()
							+ ", or give this application another port with '" + cause.prefix()
							+ ".port'. Use 0 for a port of the system's choice.",
					cause);
		}
		if (error == VerbsError.ADDRESS_NOT_AVAILABLE) {
			return new FailureAnalysis(
					"The RDMA server cannot listen on " + address.getHostString() + ": it is not an address of this "
							+ "host, or port " + address.getPort() + " is not allowed.",
					"Check '" + cause.prefix() + ".address' and '" + cause.prefix()
							+ ".port'. Without an address the server listens on all of this host.",
					cause);
		}
		return new FailureAnalysis(cause.getMessage(), "Check the device and '" + cause.prefix() + ".*'.", cause);
	}

}
