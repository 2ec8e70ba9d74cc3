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

package dev.rdmarpc.benchmarks.compare;

import java.io.Closeable;
import java.util.function.Supplier;

/** The calls of one workload on one connection, which is closed with them. */
public interface PeerCalls extends Closeable {

	/** A blocking call. */
	BlockingLoop.BlockingCall blocking();

	/** Asynchronous calls. */
	CallbackLoop.AsyncCaller async();

	/** Streams of messages, for peers that support them. */
	default PeerClient streaming() {
		throw new UnsupportedOperationException("no streams");
	}

	/** Makes a call that is answered when {@link #release} is called. */
	void hold() throws Exception;

	/** Has calls answered, as {@link HeldCalls#release}. */
	void release() throws Exception;

	/**
	 * The client that makes the calls of a workload.
	 * @param connect makes one of the connections the workload asks for
	 */
	static PeerClient client(Workload workload, Supplier<? extends PeerCalls> connect) {
		PeerCalls calls = connect.get();
		return switch (workload.mode()) {
			case SYNC -> new BlockingLoop(calls.blocking(), calls);
			case THREADS -> new BlockingThreads(calls.blocking(), workload.outstanding(), calls);
			case WAITING -> new WaitingThreads(calls::hold, calls::release, workload.outstanding(), calls);
			case STREAM, BESIDE -> calls.streaming();
			case ASYNC, MULTI -> {
				CallbackLoop loop = new CallbackLoop();
				loop.add(calls.async(), workload.outstanding(), calls);
				for (int i = 1; i < workload.connections(); i++) {
					PeerCalls others = connect.get();
					loop.add(others.async(), workload.outstanding(), others);
				}
				yield loop;
			}
		};
	}

}
