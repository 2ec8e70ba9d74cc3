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

import dev.rdmarpc.verbs.VerbsException;

/** The server could not listen. */
@SuppressWarnings("serial")
class RdmaServerStartException extends RuntimeException {

	private final String prefix;

	private final InetSocketAddress address;

	private final VerbsException reason;

	/** The prefix is that of the server's properties. */
	RdmaServerStartException(String prefix, InetSocketAddress address, VerbsException reason) {
		super("RDMA server cannot listen on " + address + ": " + reason.getMessage(), reason);
		this.prefix = prefix;
		this.address = address;
		this.reason = reason;
	}

	String prefix() {
		return this.prefix;
	}

	InetSocketAddress address() {
		return this.address;
	}

	VerbsException reason() {
		return this.reason;
	}

}
