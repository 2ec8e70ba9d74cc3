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

package dev.rdmarpc.grpc;

import java.util.concurrent.Executor;

import io.grpc.Status;
import io.grpc.internal.ClientTransport.PingCallback;

import dev.rdmarpc.codec.MessageSegments;
import dev.rdmarpc.memory.MemoryExhaustedException;
import dev.rdmarpc.transport.CallFailure;
import dev.rdmarpc.transport.IncomingMessage;
import dev.rdmarpc.transport.PendingCall;
import dev.rdmarpc.transport.RequestTemplate;
import dev.rdmarpc.transport.RpcChannel;

/** A question whether the peer answers, and how soon. */
final class Ping implements PendingCall {

	private final PingCallback callback;

	private final Executor executor;

	private final SerialTasks tasks;

	private final long begunNanos = System.nanoTime();

	private int requestId;

	private volatile boolean done;

	Ping(PingCallback callback, Executor executor, SerialTasks tasks) {
		this.callback = callback;
		this.executor = executor;
		this.tasks = tasks;
	}

	void send(RpcChannel channel) {
		if (!channel.isOpen()) {
			fail("the connection is not open");
			return;
		}
		try {
			channel
				.prepareRequest(this, GrpcProtocol.PING, Long.MAX_VALUE, 0, RequestTemplate.NO_METADATA,
						new MessageSegments())
				.submit();
		}
		catch (MemoryExhaustedException ex) {
			fail(String.valueOf(ex.getMessage()));
		}
	}

	private void fail(String detail) {
		this.executor.execute(() -> this.callback.onFailure(Status.UNAVAILABLE.withDescription(detail)));
	}

	@Override
	public void onStarted(int id) {
		this.requestId = id;
	}

	@Override
	public int requestId() {
		return this.requestId;
	}

	@Override
	public void onReply(IncomingMessage reply) {
		this.done = true;
		long nanos = System.nanoTime() - this.begunNanos;
		this.tasks.executeAfterTurn(() -> this.executor.execute(() -> this.callback.onSuccess(nanos)));
	}

	@Override
	public void onFailure(CallFailure failure, String detail) {
		this.done = true;
		this.tasks.executeAfterTurn(() -> fail(detail));
	}

	@Override
	public boolean isDone() {
		return this.done;
	}

}
