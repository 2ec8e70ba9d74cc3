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

import io.grpc.ForwardingServerCallListener.SimpleForwardingServerCallListener;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import org.jspecify.annotations.Nullable;

/**
 * Tells a call of this transport when its handler runs no more. To be the outermost
 * interceptor.
 *
 * <p>
 * Implementation notes. gRPC runs the callbacks of a call one after the other, the one
 * for the end last, so that none runs when that has returned. It does not come if the
 * handler cannot begin, and may not come behind a callback that throws an {@link Error},
 * which the queue of callbacks does not survive. A call is known by its headers, which
 * are the same object here as where the call has begun: attributes of its own would be
 * five more objects for each call.
 */
final class HandlerWatch implements ServerInterceptor {

	static final HandlerWatch INSTANCE = new HandlerWatch();

	private HandlerWatch() {
	}

	@Override
	public <Q, P> ServerCall.@Nullable Listener<Q> interceptCall(ServerCall<Q, P> call, Metadata headers,
			ServerCallHandler<Q, P> next) {
		RdmaServerTransport transport = call.getAttributes().get(RdmaServerTransport.TRANSPORT);
		CountedCall own = (transport != null) ? transport.takeBeginning(headers) : null;
		if (own == null) {
			return next.startCall(call, headers);
		}
		own.handling();
		ServerCall.Listener<Q> listener = null;
		try {
			listener = next.startCall(call, headers);
		}
		finally {
			if (listener == null) {
				own.handled();
			}
		}
		return (listener != null) ? new Watched<>(own, listener) : null;
	}

	private static final class Watched<Q> extends SimpleForwardingServerCallListener<Q> {

		private final CountedCall call;

		Watched(CountedCall call, ServerCall.Listener<Q> listener) {
			super(listener);
			this.call = call;
		}

		@Override
		public void onMessage(Q message) {
			try {
				super.onMessage(message);
			}
			catch (Error ex) {
				this.call.handled();
				throw ex;
			}
		}

		@Override
		public void onHalfClose() {
			try {
				super.onHalfClose();
			}
			catch (Error ex) {
				this.call.handled();
				throw ex;
			}
		}

		@Override
		public void onReady() {
			try {
				super.onReady();
			}
			catch (Error ex) {
				this.call.handled();
				throw ex;
			}
		}

		@Override
		public void onCancel() {
			try {
				super.onCancel();
			}
			finally {
				this.call.handled();
			}
		}

		@Override
		public void onComplete() {
			try {
				super.onComplete();
			}
			finally {
				this.call.handled();
			}
		}

	}

}
