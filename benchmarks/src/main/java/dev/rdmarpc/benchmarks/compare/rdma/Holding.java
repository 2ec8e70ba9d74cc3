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

package dev.rdmarpc.benchmarks.compare.rdma;

import java.util.concurrent.CompletableFuture;

import dev.rdmarpc.benchmarks.compare.HeldCalls;

/** The service whose calls wait, as its handler sees it. */
public interface Holding {

	/** The name under which it is exported. */
	String SERVICE = "holding";

	/** Answered when {@link #release} is called. */
	CompletableFuture<Long> hold();

	/** Has calls answered, as {@link HeldCalls#release}. */
	long release();

	/** As threads see it that wait for the answer. */
	interface Blocking {

		/** As {@link Holding#hold}. */
		long hold();

		/** As {@link Holding#release}. */
		long release();

	}

	/** Handles the calls. */
	final class Handler implements Holding {

		private final HeldCalls calls = new HeldCalls();

		@Override
		public CompletableFuture<Long> hold() {
			CompletableFuture<Long> answer = new CompletableFuture<>();
			this.calls.hold(() -> answer.complete(0L));
			return answer;
		}

		@Override
		public long release() {
			return this.calls.release();
		}

	}

}
