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

import org.jspecify.annotations.Nullable;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

import dev.rdmarpc.verbs.VerbsException;

/** Explains why the requested provider or device is unavailable. */
class VerbsFailureAnalyzer extends AbstractFailureAnalyzer<VerbsException> {

	@Override
	protected @Nullable FailureAnalysis analyze(Throwable rootFailure, VerbsException cause) {
		return switch (cause.error()) {
			case UNAVAILABLE -> new FailureAnalysis(cause.getMessage() + ".",
					"Provide what is missing ('dev.rdmarpc:rdma-rpc-disni' has the provider of RDMA adapters), ask for another "
							+ "provider with 'rdma.rpc.provider' or 'rdma.rpc.providers', or leave the choice to 'auto'.",
					cause);
			case NO_SUCH_DEVICE -> new FailureAnalysis("The provider has " + cause.getMessage() + ".",
					"Correct 'rdma.rpc.device', or leave it out for the provider's default.", cause);
			default -> null;
		};
	}

}
