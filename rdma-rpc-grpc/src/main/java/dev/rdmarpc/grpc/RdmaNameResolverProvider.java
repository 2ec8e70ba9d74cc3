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

import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.URI;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;

import io.grpc.EquivalentAddressGroup;
import io.grpc.NameResolver;
import io.grpc.NameResolverProvider;
import io.grpc.Status;
import io.grpc.StatusOr;
import io.grpc.internal.DnsNameResolverProvider;
import org.jspecify.annotations.Nullable;

/**
 * Resolves {@code rdma:///host:port} as {@code dns:///host:port}, to addresses that are
 * reached over RDMA queue pairs.
 */
public final class RdmaNameResolverProvider extends NameResolverProvider {

	static final String SCHEME = "rdma";

	private static final int PRIORITY = 5;

	private final DnsNameResolverProvider dns = new DnsNameResolverProvider();

	@Override
	protected boolean isAvailable() {
		return true;
	}

	@Override
	protected int priority() {
		return PRIORITY;
	}

	@Override
	public String getDefaultScheme() {
		return SCHEME;
	}

	@Override
	public Collection<Class<? extends SocketAddress>> getProducedSocketAddressTypes() {
		return List.of(RdmaSocketAddress.class);
	}

	@Override
	public @Nullable NameResolver newNameResolver(URI target, NameResolver.Args args) {
		if (!SCHEME.equals(target.getScheme())) {
			return null;
		}
		String path = target.getPath();
		if (path == null || !path.matches("/[^/]+:\\d+")) {
			throw new IllegalArgumentException("target " + target + " (expected: rdma:///host:port)");
		}
		return new Resolver(this.dns.newNameResolver(URI.create("dns://" + path), args));
	}

	/** Asks another one, and marks its addresses. */
	private static final class Resolver extends NameResolver {

		private final NameResolver names;

		Resolver(NameResolver names) {
			this.names = names;
		}

		@Override
		public String getServiceAuthority() {
			return this.names.getServiceAuthority();
		}

		@Override
		public void start(Listener2 listener) {
			this.names.start(new Marking(listener));
		}

		@Override
		public void refresh() {
			this.names.refresh();
		}

		@Override
		public void shutdown() {
			this.names.shutdown();
		}

	}

	/** Marks addresses on their way to a listener. */
	private static final class Marking extends NameResolver.Listener2 {

		private final NameResolver.Listener2 listener;

		Marking(NameResolver.Listener2 listener) {
			this.listener = listener;
		}

		@Override
		public void onResult(NameResolver.ResolutionResult result) {
			this.listener.onResult(marked(result));
		}

		@Override
		public Status onResult2(NameResolver.ResolutionResult result) {
			return this.listener.onResult2(marked(result));
		}

		@Override
		public void onError(Status error) {
			this.listener.onError(error);
		}

		private static NameResolver.ResolutionResult marked(NameResolver.ResolutionResult result) {
			StatusOr<List<EquivalentAddressGroup>> found = result.getAddressesOrError();
			if (!found.hasValue()) {
				return result;
			}
			List<EquivalentAddressGroup> marked = new ArrayList<>();
			for (EquivalentAddressGroup group : found.getValue()) {
				List<SocketAddress> addresses = new ArrayList<>();
				for (SocketAddress address : group.getAddresses()) {
					addresses.add((address instanceof InetSocketAddress inet) ? new RdmaSocketAddress(inet) : address);
				}
				marked.add(new EquivalentAddressGroup(addresses, group.getAttributes()));
			}
			return result.toBuilder().setAddressesOrError(StatusOr.fromValue(marked)).build();
		}

	}

}
