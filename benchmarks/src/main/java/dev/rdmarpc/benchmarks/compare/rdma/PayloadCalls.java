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

import dev.rdmarpc.benchmarks.compare.PeerCalls;

/** Calls with payloads of one kind. */
interface PayloadCalls extends PeerCalls {

	/** What the calls are made with. */
	Clients clients();

	@Override
	default void hold() {
		clients().of(Holding.Blocking.class).hold();
	}

	@Override
	default void release() {
		clients().of(Holding.Blocking.class).release();
	}

	@Override
	default void close() {
		clients().close();
	}

	/** Checks an answer of or about a number of bytes. */
	static void check(long sent, long answered) {
		if (answered != sent) {
			throw new IllegalStateException("answer of or about " + answered + " bytes to " + sent);
		}
	}

}
