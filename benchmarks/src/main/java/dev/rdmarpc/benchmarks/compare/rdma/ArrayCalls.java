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
import dev.rdmarpc.benchmarks.compare.PeerClient;
import dev.rdmarpc.benchmarks.compare.Workload;

/**
 * Calls whose payload is a {@code byte[]} at both ends.
 *
 * @param payload shared by the connections of the workload
 */
record ArrayCalls(Clients clients, Workload workload, byte[] payload) implements PayloadCalls {

	@Override
	public BlockingLoop.BlockingCall blocking() {
		Payloads payloads = this.clients.of(Payloads.class);
		int bytes = this.workload.payloadBytes();
		return this.workload.isEcho() ? () -> PayloadCalls.check(bytes, length(payloads.echo(this.payload)))
				: () -> PayloadCalls.check(bytes, payloads.upload(this.payload));
	}

	@Override
	public CallbackLoop.AsyncCaller async() {
		AsyncPayloads payloads = this.clients.of(AsyncPayloads.class);
		int bytes = this.workload.payloadBytes();
		return (slot) -> {
			SlotEnd<byte[]> end = new SlotEnd<>(slot, bytes, ArrayCalls::length);
			SlotEnd<Long> answered = new SlotEnd<>(slot, bytes, Long::longValue);
			return this.workload.isEcho() ? () -> payloads.echo(this.payload).whenComplete(end)
					: () -> payloads.upload(this.payload).whenComplete(answered);
		};
	}

	@Override
	public PeerClient streaming() {
		return new StreamClient(this.clients.of(StreamedPayloads.class), this.workload, this.payload, this);
	}

	private static long length(byte[] reply) {
		return reply.length;
	}

}
