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
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

import io.grpc.CallOptions;
import io.grpc.MethodDescriptor.MethodType;
import org.jspecify.annotations.Nullable;

import dev.rdmarpc.transport.ChannelLoop;
import dev.rdmarpc.transport.OutgoingMessage;
import dev.rdmarpc.transport.PendingCall;

/**
 * Lets the thread that makes a blocking call drive the loop until the reply is there,
 * since it is going to wait for nothing else: that saves waking it. After a while it goes
 * back to gRPC, which may have something else for it to do, and waits as gRPC does.
 *
 * <p>
 * Implementation notes. Whoever decides first, the driver that has the reply or the
 * thread that leaves, decides who goes on with the call. What the driver has stored
 * before is visible to the thread that finds it has decided.
 */
final class BlockingWait {

	/**
	 * The executor of gRPC's blocking stubs, which the thread that makes the call runs
	 * until the call has ended.
	 */
	private static final String STUB_EXECUTOR = "io.grpc.stub.ClientCalls$ThreadlessExecutor";

	private static final long MOST_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

	private final AtomicBoolean decided = new AtomicBoolean();

	private final Thread caller = Thread.currentThread();

	private @Nullable Runnable reply;

	/**
	 * Whether the thread that half-closes a call does nothing else until it has ended.
	 */
	static boolean isMeant(MethodType type, CallOptions options) {
		Executor executor = options.getExecutor();
		return executor != null && type == MethodType.UNARY && STUB_EXECUTOR.equals(executor.getClass().getName());
	}

	/** Submits the request and waits for a while; the caller. */
	void submitAndWait(ChannelLoop loop, OutgoingMessage request, PendingCall call, SerialTasks tasks) {
		loop.submitAndWait(request, call, System.nanoTime() + MOST_NANOS);
		Runnable arrived = this.decided.compareAndSet(false, true) ? null : this.reply;
		if (arrived != null) {
			tasks.execute(arrived);
		}
	}

	/**
	 * The end of the call is there; driver.
	 * @return whether the caller goes on with it, which is to be woken then
	 */
	boolean takes(Runnable end) {
		this.reply = end;
		return this.decided.compareAndSet(false, true);
	}

	Thread caller() {
		return this.caller;
	}

}
