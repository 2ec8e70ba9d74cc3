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

package dev.rdmarpc.benchmarks.compare.grpc;

import java.util.Arrays;

import io.grpc.stub.StreamObserver;

import dev.rdmarpc.benchmarks.compare.BlockingLoop;
import dev.rdmarpc.benchmarks.compare.CallbackLoop;
import dev.rdmarpc.benchmarks.compare.Exchange;
import dev.rdmarpc.benchmarks.compare.Workload;
import dev.rdmarpc.benchmarks.compare.grpc.PayloadsGrpc.PayloadsBlockingStub;
import dev.rdmarpc.benchmarks.compare.grpc.PayloadsGrpc.PayloadsStub;

/** The calls of a workload, through stubs. */
final class StubCalls {

	private final Workload workload;

	private final boolean echo;

	private final byte[] payload;

	StubCalls(Workload workload) {
		this.workload = workload;
		this.echo = workload.exchange() == Exchange.ECHO;
		this.payload = new byte[workload.payloadBytes()];
		Arrays.fill(this.payload, (byte) 'x');
	}

	BlockingLoop.BlockingCall blocking(PayloadsBlockingStub stub) {
		return this.echo ? () -> check(stub.echo(this.payload)) : () -> check(stub.upload(this.payload));
	}

	CallbackLoop.AsyncCaller async(PayloadsStub stub) {
		return (slot) -> {
			StreamObserver<byte[]> observer = new SlotObserver(this, slot);
			return this.echo ? () -> stub.echo(this.payload, observer) : () -> stub.upload(this.payload, observer);
		};
	}

	BlockingLoop.BlockingCall holding(PayloadsBlockingStub stub) {
		return () -> stub.hold(this.payload);
	}

	BlockingLoop.BlockingCall releasing(PayloadsBlockingStub stub) {
		return () -> stub.release(this.payload);
	}

	private void check(byte[] reply) {
		if (reply.length != this.workload.replyBytes()) {
			throw new IllegalStateException(
					"reply of " + reply.length + " bytes (expected: " + this.workload.replyBytes() + ")");
		}
	}

	private record SlotObserver(StubCalls calls, CallbackLoop.Slot slot) implements StreamObserver<byte[]> {

		@Override
		public void onNext(byte[] reply) {
			this.calls.check(reply);
		}

		@Override
		public void onError(Throwable cause) {
			this.slot.fail(cause);
		}

		@Override
		public void onCompleted() {
			this.slot.succeed();
		}

	}

}
