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

import java.nio.ByteBuffer;

import dev.rdmarpc.benchmarks.compare.BlockingLoop;
import dev.rdmarpc.benchmarks.compare.CallbackLoop;
import dev.rdmarpc.benchmarks.compare.Exchange;
import dev.rdmarpc.benchmarks.compare.Workload;
import dev.rdmarpc.memory.RegisteredBuffer;
import dev.rdmarpc.memory.RegisteredMemory;
import dev.rdmarpc.rpc.RpcClient;

/** Calls whose payload is in registered memory at both ends. */
final class RegisteredCalls implements PayloadCalls {

	private final String service;

	private final boolean echo;

	private final RegisteredBuffer payload;

	private final int payloadBytes;

	RegisteredCalls(String service, Workload workload, RegisteredMemory memory) {
		this.service = service;
		this.echo = workload.exchange() == Exchange.ECHO;
		this.payloadBytes = workload.payloadBytes();
		this.payload = memory.allocate(this.payloadBytes);
		ByteBuffer bytes = this.payload.buffer();
		while (bytes.hasRemaining()) {
			bytes.put((byte) 'x');
		}
	}

	@Override
	public BlockingLoop.BlockingCall blocking(RpcClient client) {
		RegisteredPayloads payloads = client.proxy(this.service, RegisteredPayloads.class);
		return this.echo ? () -> PayloadCalls.check(this.payloadBytes, length(payloads.echo(this.payload)))
				: () -> PayloadCalls.check(this.payloadBytes, payloads.upload(this.payload));
	}

	@Override
	public CallbackLoop.AsyncCaller async(RpcClient client) {
		AsyncRegisteredPayloads payloads = client.proxy(this.service, AsyncRegisteredPayloads.class);
		return (slot) -> {
			SlotEnd<RegisteredBuffer> end = new SlotEnd<>(slot, this.payloadBytes, RegisteredCalls::length);
			SlotEnd<Long> answered = new SlotEnd<>(slot, this.payloadBytes, Long::longValue);
			return this.echo ? () -> payloads.echo(this.payload).whenComplete(end)
					: () -> payloads.upload(this.payload).whenComplete(answered);
		};
	}

	private static long length(RegisteredBuffer reply) {
		long length = reply.length();
		reply.release();
		return length;
	}

	@Override
	public void close() {
		this.payload.release();
	}

}
