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
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;

import dev.rdmarpc.verbs.VerbsException;

/** Explains why the memory that each loop has of its own cannot be had. */
@Order(Ordered.HIGHEST_PRECEDENCE)
class StagingFailureAnalyzer extends AbstractFailureAnalyzer<VerbsException> {

	@Override
	protected @Nullable FailureAnalysis analyze(Throwable rootFailure, VerbsException cause) {
		if (!(cause.getCause() instanceof OutOfMemoryError)) {
			return null;
		}
		return new FailureAnalysis("A loop has no memory: " + cause.getMessage() + ".",
				"Give the process more direct memory with -XX:MaxDirectMemorySize, or lower 'rdma.rpc.iwarp.staging', "
						+ "which each loop has, or the number of loops, as 'rdma.rpc.server.loops' says.",
				cause);
	}

}
