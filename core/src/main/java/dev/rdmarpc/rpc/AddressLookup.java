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

import java.net.InetSocketAddress;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Consumer;
import java.util.function.Supplier;

import dev.rdmarpc.transport.RdmaTransport;
import dev.rdmarpc.transport.RpcChannel;

/**
 * Asks where to connect, for each attempt, on a thread of its own: asking may block,
 * which callers, timer and loop must not.
 */
final class AddressLookup {

	private final RdmaTransport transport;

	private final String target;

	private final Supplier<InetSocketAddress> addresses;

	AddressLookup(RdmaTransport transport, String target, Supplier<InetSocketAddress> addresses) {
		this.transport = transport;
		this.target = target;
		this.addresses = addresses;
	}

	/**
	 * Connects a channel, or closes it with the reason why that cannot be tried.
	 * @param resolved is told when the address is known, or will never be
	 */
	void connect(RpcChannel channel, Consumer<RpcChannel> resolved) {
		try {
			this.transport.resolver().execute(() -> resolveAndConnect(channel, resolved));
		}
		catch (RejectedExecutionException ex) {
			resolved.accept(channel);
			channel.close("the transport is closed");
		}
		catch (Throwable ex) {
			resolved.accept(channel);
			FailedAttempts.end(channel, "no thread to resolve its name", ex);
		}
	}

	private InetSocketAddress resolve(RpcChannel channel, Consumer<RpcChannel> resolved) {
		try {
			return this.addresses.get();
		}
		finally {
			resolved.accept(channel);
		}
	}

	private void resolveAndConnect(RpcChannel channel, Consumer<RpcChannel> resolved) {
		try {
			InetSocketAddress address = resolve(channel, resolved);
			if (address.isUnresolved()) {
				channel.close("unknown host " + address.getHostString());
			}
			else {
				this.transport.connect(channel, address, this.target);
			}
		}
		catch (Throwable ex) {
			FailedAttempts.end(channel, "its address is not known", ex);
		}
	}

}
