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
import java.util.Collection;
import java.util.List;

import io.grpc.CallCredentials;
import io.grpc.ChannelCredentials;
import io.grpc.CompositeCallCredentials;
import io.grpc.CompositeChannelCredentials;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannelBuilder;
import io.grpc.ManagedChannelProvider;

/**
 * Lets gRPC make channels to {@code rdma:} targets by this transport, and to no others.
 */
public final class RdmaChannelProvider extends ManagedChannelProvider {

	/** Below the other ones, which gRPC takes where the target does not decide. */
	private static final int PRIORITY = 1;

	@Override
	protected boolean isAvailable() {
		return true;
	}

	@Override
	protected int priority() {
		return PRIORITY;
	}

	@Override
	protected ManagedChannelBuilder<?> builderForAddress(String host, int port) {
		throw refused(host + ":" + port);
	}

	@Override
	protected ManagedChannelBuilder<?> builderForTarget(String target) {
		if (!isOurs(target)) {
			throw refused(target);
		}
		return RdmaChannelBuilder.forTarget(target);
	}

	private static ProviderNotFoundException refused(String target) {
		return new ProviderNotFoundException("No channel provider for " + target
				+ " (expected: an rdma:///host:port target, or grpc-netty on the class path)");
	}

	private static boolean isOurs(String target) {
		return target.startsWith(RdmaNameResolverProvider.SCHEME + ":");
	}

	@Override
	protected NewChannelBuilderResult newChannelBuilder(String target, ChannelCredentials credentials) {
		if (!isOurs(target)) {
			return NewChannelBuilderResult.error("target " + target + " (expected: rdma:///host:port)");
		}
		CallCredentials callCredentials = null;
		ChannelCredentials plain = credentials;
		while (plain instanceof CompositeChannelCredentials composite) {
			CallCredentials more = composite.getCallCredentials();
			callCredentials = (callCredentials != null) ? new CompositeCallCredentials(more, callCredentials) : more;
			plain = composite.getChannelCredentials();
		}
		if (!(plain instanceof InsecureChannelCredentials)) {
			return NewChannelBuilderResult.error("credentials " + plain.getClass().getName()
					+ " (expected: InsecureChannelCredentials, and TLS of the channel options)");
		}
		return NewChannelBuilderResult.channelBuilder(RdmaChannelBuilder.forTarget(target, plain, callCredentials));
	}

	@Override
	protected Collection<Class<? extends SocketAddress>> getSupportedSocketAddressTypes() {
		return List.of(RdmaSocketAddress.class);
	}

}
