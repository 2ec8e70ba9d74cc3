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

import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.ManagedChannelBuilder;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.ServerBuilder;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;

/**
 * The suite with messages compressed in both directions. Tests that limit messages to
 * their exact size are left uncompressed, since the smallest get larger by compression.
 */
public class CompressedInteropSuite extends RdmaInteropSuite {

	private static final Metadata.Key<String> ENCODING = Metadata.Key.of("grpc-encoding",
			Metadata.ASCII_STRING_MARSHALLER);

	@Override
	protected ServerBuilder<?> getServerBuilder() {
		return super.getServerBuilder().intercept(new ServerInterceptor() {
			@Override
			public <Q, P> ServerCall.Listener<Q> interceptCall(ServerCall<Q, P> call, Metadata headers,
					ServerCallHandler<Q, P> next) {
				if (headers.containsKey(ENCODING)) {
					call.setCompression("gzip");
				}
				return next.startCall(call, headers);
			}
		});
	}

	@Override
	protected ManagedChannelBuilder<?> createChannelBuilder() {
		return super.createChannelBuilder().intercept(new ClientInterceptor() {
			@Override
			public <Q, P> ClientCall<Q, P> interceptCall(MethodDescriptor<Q, P> method, CallOptions options,
					Channel next) {
				boolean limited = options.getMaxInboundMessageSize() != null
						|| options.getMaxOutboundMessageSize() != null;
				return next.newCall(method, limited ? options : options.withCompression("gzip"));
			}
		});
	}

}
