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

package dev.rdmarpc.boot.security;

import org.jspecify.annotations.Nullable;
import org.springframework.security.core.context.SecurityContext;
import org.springframework.security.core.context.SecurityContextHolderStrategy;

import dev.rdmarpc.rpc.ContextPropagation;

/**
 * Carries the security context of a handler to the other threads that ask for the
 * messages of its stream, or tell its subscriber, next to what the application carries.
 * Thread-safe.
 *
 * @param contexts where the context of a thread is
 * @param other what the application carries, or {@code null}
 */
public record SecurityContextPropagation(SecurityContextHolderStrategy contexts,
		@Nullable ContextPropagation other) implements ContextPropagation {

	@Override
	public Captured capture() {
		Captured theirs = (this.other != null) ? this.other.capture() : null;
		SecurityContext captured = this.contexts.getContext();
		return () -> {
			Scope scope = (theirs != null) ? theirs.restore() : null;
			SecurityContext before = this.contexts.getContext();
			this.contexts.setContext(captured);
			return () -> {
				restore(this.contexts, before);
				if (scope != null) {
					scope.close();
				}
			};
		};
	}

	/** Has a thread have again what it had. */
	static void restore(SecurityContextHolderStrategy contexts, SecurityContext before) {
		if (before.getAuthentication() == null) {
			contexts.clearContext();
		}
		else {
			contexts.setContext(before);
		}
	}

}
