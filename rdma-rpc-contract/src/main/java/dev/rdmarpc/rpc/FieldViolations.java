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

package dev.rdmarpc.rpc;

import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * What is wrong with the arguments of a call: the {@linkplain RpcException#details
 * details} of a failure with {@link RpcStatus#INVALID_ARGUMENT}.
 *
 * @param violations what is wrong, as far as there is room for it
 * @param omitted how many more there are
 */
public record FieldViolations(List<Violation> violations, int omitted) {

	/** Copies the list. */
	public FieldViolations {
		violations = List.copyOf(violations);
	}

	/** The first half of several, or {@code null}. */
	@Nullable FieldViolations firstHalf() {
		int all = this.violations.size();
		return (all <= 1) ? null
				: new FieldViolations(this.violations.subList(0, all / 2), this.omitted + all - all / 2);
	}

	/**
	 * What is wrong with one argument, or with a part of it.
	 *
	 * @param field its path, which begins with the name of the parameter
	 * @param message what was expected
	 */
	public record Violation(String field, String message) {

	}

}
