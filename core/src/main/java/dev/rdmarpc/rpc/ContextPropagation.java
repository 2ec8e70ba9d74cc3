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

/**
 * Carries what belongs to a thread, such as the logging context, to other threads that
 * run users' code of the same call: what depends on futures, subscribers, and publishers
 * and iterators of streams.
 *
 * <p>
 * Must be thread-safe and fast. What its methods throw is logged, and the code runs
 * without the context.
 */
@FunctionalInterface
public interface ContextPropagation {

	/** Captures what belongs to the current thread. */
	Captured capture();

	/** What belonged to a thread. Thread-safe. */
	@FunctionalInterface
	interface Captured {

		/**
		 * Has the current thread have it, too.
		 * @return is closed on the same thread, which then has again what it had before
		 */
		Scope restore();

	}

	/** How long a thread has what belonged to another. */
	@FunctionalInterface
	interface Scope extends AutoCloseable {

		@Override
		void close();

	}

}
