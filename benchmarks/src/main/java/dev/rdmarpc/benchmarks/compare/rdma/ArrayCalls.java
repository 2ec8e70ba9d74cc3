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

import java.util.Arrays;

import dev.rdmarpc.benchmarks.compare.BlockingLoop;
import dev.rdmarpc.benchmarks.compare.CallbackLoop;
import dev.rdmarpc.benchmarks.compare.Exchange;
import dev.rdmarpc.benchmarks.compare.Workload;
import dev.rdmarpc.rpc.RpcClient;

/** Calls whose payload is a {@code byte[]} at both ends, through any client. */
final class ArrayCalls {

	private final boolean echo;

	private final byte[] payload;

	ArrayCalls(Workload workload) {
		this.echo = workload.exchange() == Exchange.ECHO;
		this.payload = new byte[workload.payloadBytes()];
		Arrays.fill(this.payload, (byte) 'x');
	}

	BlockingLoop.BlockingCall blocking(Payloads payloads) {
		int bytes = this.payload.length;
		return this.echo ? () -> PayloadCalls.check(bytes, payloads.echo(this.payload).length)
				: () -> PayloadCalls.check(bytes, payloads.upload(this.payload));
	}

	CallbackLoop.AsyncCaller async(AsyncPayloads payloads) {
		return (slot) -> {
			SlotEnd<byte[]> end = new SlotEnd<>(slot, this.payload.length, ArrayCalls::length);
			SlotEnd<Long> answered = new SlotEnd<>(slot, this.payload.length, Long::longValue);
			return this.echo ? () -> payloads.echo(this.payload).whenComplete(end)
					: () -> payloads.upload(this.payload).whenComplete(answered);
		};
	}

	private static long length(byte[] reply) {
		return reply.length;
	}

	/** With clients that are made for the workload. */
	record OfClient(ArrayCalls calls, String service) implements PayloadCalls {

		@Override
		public BlockingLoop.BlockingCall blocking(RpcClient client) {
			return this.calls.blocking(client.proxy(this.service, Payloads.class));
		}

		@Override
		public CallbackLoop.AsyncCaller async(RpcClient client) {
			return this.calls.async(client.proxy(this.service, AsyncPayloads.class));
		}

		@Override
		public void close() {
			// the collector sees to it
		}

	}

}
