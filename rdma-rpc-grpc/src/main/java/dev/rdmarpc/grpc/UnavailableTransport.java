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

import java.net.SocketAddress;
import java.util.concurrent.Executor;

import com.google.common.util.concurrent.Futures;
import com.google.common.util.concurrent.ListenableFuture;
import io.grpc.Attributes;
import io.grpc.CallOptions;
import io.grpc.ClientStreamTracer;
import io.grpc.InternalChannelz.SocketStats;
import io.grpc.InternalLogId;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import io.grpc.internal.ClientStream;
import io.grpc.internal.ConnectionClientTransport;
import io.grpc.internal.FailingClientStream;
import io.grpc.internal.SimpleDisconnectError;

/**
 * In place of a connection that cannot even be begun, since its rail is down, say: ends
 * as soon as it starts, so that gRPC tries again. An exception would end its channel.
 */
final class UnavailableTransport implements ConnectionClientTransport {

	private final Status reason;

	private final InternalLogId logId;

	UnavailableTransport(Status reason, SocketAddress address) {
		this.reason = reason;
		this.logId = InternalLogId.allocate(UnavailableTransport.class, address.toString());
	}

	@Override
	public Runnable start(Listener listener) {
		return () -> {
			listener.transportShutdown(this.reason, SimpleDisconnectError.UNKNOWN);
			listener.transportTerminated();
		};
	}

	@Override
	public ClientStream newStream(MethodDescriptor<?, ?> method, Metadata headers, CallOptions options,
			ClientStreamTracer[] tracers) {
		return new FailingClientStream(this.reason, tracers);
	}

	@Override
	public void ping(PingCallback callback, Executor executor) {
		executor.execute(() -> callback.onFailure(this.reason));
	}

	@Override
	public void shutdown(Status status) {
		// it has ended
	}

	@Override
	public void shutdownNow(Status status) {
		// it has ended
	}

	@Override
	public Attributes getAttributes() {
		return Attributes.EMPTY;
	}

	@Override
	public ListenableFuture<SocketStats> getStats() {
		return Futures.immediateFailedFuture(this.reason.asRuntimeException());
	}

	@Override
	public InternalLogId getLogId() {
		return this.logId;
	}

}
