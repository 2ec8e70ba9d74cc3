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

import java.io.Closeable;

import dev.rdmarpc.benchmarks.compare.BlockingLoop;
import dev.rdmarpc.benchmarks.compare.CallbackLoop;
import dev.rdmarpc.rpc.RpcClient;

/** Makes the calls of one workload, with payloads of one kind. */
interface PayloadCalls extends Closeable {

	/** One blocking call, repeated. */
	BlockingLoop.BlockingCall blocking(RpcClient client);

	/** Asynchronous calls. */
	CallbackLoop.AsyncCaller async(RpcClient client);

	/** Gives the payload back. */
	@Override
	void close();

	/** Checks an answer of or about a number of bytes. */
	static void check(long sent, long answered) {
		if (answered != sent) {
			throw new IllegalStateException("answer of or about " + answered + " bytes to " + sent);
		}
	}

}
