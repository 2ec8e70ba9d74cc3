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

import java.util.Set;

import org.jspecify.annotations.Nullable;

/**
 * Who may call the methods of a service. Immutable.
 *
 * @param names the names of principals, or {@value #ANYBODY_KNOWN} for all that are known
 */
record AllowedCallers(Set<String> names) {

	static final String ANYBODY_KNOWN = "*";

	AllowedCallers {
		names = Set.copyOf(names);
	}

	/**
	 * Decides on a caller.
	 * @param name of its principal, or {@code null} if nobody knows who it is
	 * @return the status of its call if it may not make it, else {@code null}
	 */
	@Nullable RpcStatus refusal(@Nullable String name) {
		if (name == null) {
			return RpcStatus.UNAUTHENTICATED;
		}
		return (this.names.contains(name) || this.names.contains(ANYBODY_KNOWN)) ? null : RpcStatus.PERMISSION_DENIED;
	}

}
