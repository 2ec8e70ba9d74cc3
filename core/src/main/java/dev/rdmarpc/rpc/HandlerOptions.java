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
 * Where the handlers of a server run.
 *
 * @param dispatch on the threads of the loops or on the executor
 * @param threads what kind of threads the server's own executor has
 * @param maxThreads maximum number of platform threads of that executor, each started
 * when a call finds none idle; virtual threads are as many as there are calls
 */
public record HandlerOptions(Dispatch dispatch, HandlerThreads threads, int maxThreads) {

	/** Adaptive, the threads that suit the virtual machine, up to 256. */
	public static final HandlerOptions DEFAULTS = new HandlerOptions(Dispatch.ADAPTIVE, HandlerThreads.AUTO, 256);

	/**
	 * Checks the bounds.
	 * @throws IllegalArgumentException naming the value and what was expected
	 */
	public HandlerOptions {
		if (maxThreads < 1) {
			throw new IllegalArgumentException(maxThreads + " handler threads (expected: at least 1)");
		}
		if (!threads.isAvailable()) {
			throw new IllegalArgumentException("handler threads " + threads + " (expected: AUTO or PLATFORM on Java "
					+ Runtime.version().feature() + ", which has no virtual threads)");
		}
	}

	/** These options with another dispatch. */
	public HandlerOptions withDispatch(Dispatch other) {
		return new HandlerOptions(other, this.threads, this.maxThreads);
	}

	/** These options with other threads. */
	public HandlerOptions withThreads(HandlerThreads kind, int max) {
		return new HandlerOptions(this.dispatch, kind, max);
	}

}
