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

import java.io.Closeable;
import java.io.IOException;

import io.grpc.stub.StreamObserver;

import dev.rdmarpc.benchmarks.compare.BlockingLoop;
import dev.rdmarpc.benchmarks.compare.CallbackLoop;
import dev.rdmarpc.benchmarks.compare.PeerCalls;
import dev.rdmarpc.benchmarks.compare.PeerClient;
import dev.rdmarpc.benchmarks.compare.Workload;
import dev.rdmarpc.benchmarks.compare.grpc.PayloadsGrpc.PayloadsBlockingStub;
import dev.rdmarpc.benchmarks.compare.grpc.PayloadsGrpc.PayloadsStub;

/**
 * The calls of a workload, through stubs.
 *
 * @param payload shared by the connections of the workload
 * @param connection closed with the calls
 */
record StubCalls(Workload workload, byte[] payload, PayloadsBlockingStub blockingStub, PayloadsStub stub,
		Closeable connection) implements PeerCalls {

	@Override
	public BlockingLoop.BlockingCall blocking() {
		return this.workload.isEcho() ? () -> check(this.blockingStub.echo(this.payload))
				: () -> check(this.blockingStub.upload(this.payload));
	}

	@Override
	public CallbackLoop.AsyncCaller async() {
		return (slot) -> {
			StreamObserver<byte[]> observer = new SlotObserver(this, slot);
			return this.workload.isEcho() ? () -> this.stub.echo(this.payload, observer)
					: () -> this.stub.upload(this.payload, observer);
		};
	}

	@Override
	public PeerClient streaming() {
		return new StreamClient(this.stub, this.payload, this);
	}

	@Override
	public void hold() {
		this.blockingStub.hold(this.payload);
	}

	@Override
	public void release() {
		this.blockingStub.release(this.payload);
	}

	@Override
	public void close() throws IOException {
		this.connection.close();
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
