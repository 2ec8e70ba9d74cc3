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

package dev.rdmarpc.rpc;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.transport.RpcChannel;

/**
 * How long calls wait for a connection, and what they are told if there is none: no
 * handler has begun with them.
 */
final class ConnectWaits {

	private ConnectWaits() {
	}

	/**
	 * How long a call goes on waiting when attempts to connect fail: as long as it can if
	 * it was asked to, or, if it can be repeated, as long as the target may be
	 * restarting.
	 */
	static long leastNanos(ChannelSource channels, RpcClientOptions options, MethodDescriptor method,
			CallOptions call) {
		if (call.waitForReady() || options.waitForReady()) {
			return Long.MAX_VALUE;
		}
		return method.idempotent() ? channels.restartingNanos() : 0;
	}

	/** How long a call waits for a connection; {@link Long#MAX_VALUE} is for ever. */
	static long nanos(RpcClientOptions options, long least, long deadline) {
		long remaining = (deadline != Long.MAX_VALUE) ? deadline - System.nanoTime() : Long.MAX_VALUE;
		return Math.min(remaining, Math.max(least, options.connectTimeout().toNanos()));
	}

	/** Waits for a connection, as long as a blocking call may. */
	static RpcChannel await(ChannelSource channels, RpcClientOptions options, MethodDescriptor method, CallOptions call,
			long deadline) {
		long begun = System.nanoTime();
		long least = leastNanos(channels, options, method, call);
		CompletableFuture<RpcChannel> channel = channels.channel(least > 0);
		long nanos = nanos(options, least, deadline);
		try {
			return channel.get(nanos, TimeUnit.NANOSECONDS);
		}
		catch (ExecutionException ex) {
			throw forMethod(method, ex.getCause());
		}
		catch (TimeoutException ex) {
			channel.cancel(false);
			throw notInTime(channels, method, begun, deadline, ex);
		}
		catch (InterruptedException ex) {
			channel.cancel(false);
			Thread.currentThread().interrupt();
			throw new RpcException(RpcStatus.CANCELLED, "the calling thread was interrupted", method.service(),
					method.name(), ex);
		}
	}

	/** None in time. */
	static RpcException notInTime(ChannelSource channels, MethodDescriptor method, long begun, long deadline,
			Throwable cause) {
		boolean late = deadline != Long.MAX_VALUE && deadline - System.nanoTime() <= 0;
		String before = channels.lastFailure();
		return new RpcException(
				late ? RpcStatus.DEADLINE_EXCEEDED : RpcStatus.UNAVAILABLE, "no connection to " + channels.target()
						+ " in time" + (before.isEmpty() ? "" : ", after: " + before) + channels.pauseSince(begun),
				method.service(), method.name(), cause)
			.beforeExecution();
	}

	/** None, for a reason that names no method. */
	static RpcException forMethod(MethodDescriptor method, @Nullable Throwable failure) {
		if (failure instanceof RpcException known) {
			return new RpcException(known.status(), known.detail(), method.service(), method.name(), known.getCause())
				.beforeExecution();
		}
		return new RpcException(RpcStatus.UNAVAILABLE, String.valueOf(failure), method.service(), method.name(),
				failure)
			.beforeExecution();
	}

}
