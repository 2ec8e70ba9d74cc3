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

import dev.rdmarpc.benchmarks.compare.BlockingLoop;
import dev.rdmarpc.benchmarks.compare.CallbackLoop;
import dev.rdmarpc.benchmarks.compare.Workload;
import dev.rdmarpc.memory.RegisteredBuffer;

/**
 * Calls whose payload is in registered memory at both ends.
 *
 * @param payload borrowed, and shared by the connections of the workload
 */
record RegisteredCalls(Clients clients, Workload workload, RegisteredBuffer payload) implements PayloadCalls {

	@Override
	public BlockingLoop.BlockingCall blocking() {
		RegisteredPayloads payloads = this.clients.of(RegisteredPayloads.class);
		int bytes = this.workload.payloadBytes();
		return this.workload.isEcho() ? () -> PayloadCalls.check(bytes, length(payloads.echo(this.payload)))
				: () -> PayloadCalls.check(bytes, payloads.upload(this.payload));
	}

	@Override
	public CallbackLoop.AsyncCaller async() {
		AsyncRegisteredPayloads payloads = this.clients.of(AsyncRegisteredPayloads.class);
		int bytes = this.workload.payloadBytes();
		return (slot) -> {
			SlotEnd<RegisteredBuffer> end = new SlotEnd<>(slot, bytes, RegisteredCalls::length);
			SlotEnd<Long> answered = new SlotEnd<>(slot, bytes, Long::longValue);
			return this.workload.isEcho() ? () -> payloads.echo(this.payload).whenComplete(end)
					: () -> payloads.upload(this.payload).whenComplete(answered);
		};
	}

	private static long length(RegisteredBuffer reply) {
		long length = reply.length();
		reply.release();
		return length;
	}

}
