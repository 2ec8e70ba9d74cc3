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

package dev.rdmarpc.verbs;

/**
 * The answer to whether a {@link VerbsProvider} can work here.
 *
 * @param available whether devices can be opened
 * @param reason one sentence for an operator: what was found, or exactly what is missing
 */
public record ProviderAvailability(boolean available, String reason) {

	/** An affirmative answer, with what was found. */
	public static ProviderAvailability available(String reason) {
		return new ProviderAvailability(true, reason);
	}

	/** A negative answer, with what is missing. */
	public static ProviderAvailability unavailable(String reason) {
		return new ProviderAvailability(false, reason);
	}

}
