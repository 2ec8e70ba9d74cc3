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

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BiFunction;

import dev.rdmarpc.balancing.Candidate;
import dev.rdmarpc.balancing.OutlierDetector;
import dev.rdmarpc.transport.RpcChannel;

/** The queue pairs to one of the addresses of a target. Thread-safe. */
final class AddressPool implements Candidate, AddressWatch {

	private final InetSocketAddress address;

	private final String name;

	private final OutlierDetector.Observed observed;

	private final Runnable troubled;

	private final QueuePairPool queuePairs;

	/** Whether the loss of the last open queue pair was counted. */
	private final AtomicBoolean gone = new AtomicBoolean();

	private volatile String zone = "";

	/**
	 * Creates the pool, which does not connect yet.
	 * @param troubled is told when the address may not be one any more; as in
	 * {@link AddressWatch}
	 * @param pools makes the queue pairs
	 */
	AddressPool(InetSocketAddress address, String target, OutlierDetector outliers, Runnable troubled,
			BiFunction<AddressPool, String, QueuePairPool> pools) {
		this.address = address;
		this.name = nameOf(address);
		this.observed = outliers.observe("Address " + this.name + " of '" + target + "'");
		this.troubled = troubled;
		try {
			this.queuePairs = pools.apply(this, target + " (" + this.name + ")");
		}
		catch (Throwable ex) {
			this.observed.forget();
			throw ex;
		}
	}

	/** Addresses that are found by one name differ only in numbers. */
	static String nameOf(InetSocketAddress address) {
		InetAddress resolved = address.getAddress();
		String host = (resolved != null) ? resolved.getHostAddress() : address.getHostString();
		return (host.contains(":") ? "[" + host + "]" : host) + ":" + address.getPort();
	}

	InetSocketAddress address() {
		return this.address;
	}

	/** Where to connect: a name is resolved each time. */
	InetSocketAddress resolved() {
		return this.address.isUnresolved() ? new InetSocketAddress(this.address.getHostString(), this.address.getPort())
				: this.address;
	}

	QueuePairPool queuePairs() {
		return this.queuePairs;
	}

	@Override
	public String name() {
		return this.name;
	}

	@Override
	public String zone() {
		return this.zone;
	}

	void zone(String value) {
		this.zone = value;
	}

	@Override
	public boolean isAvailable() {
		return this.queuePairs.isOpen() && !this.observed.isEjected();
	}

	@Override
	public int outstandingCalls() {
		return this.queuePairs.outstandingCalls();
	}

	/** Whether any of the channels is one of its queue pairs. */
	boolean isUsedBy(List<RpcChannel> channels) {
		List<ClientConnection> own = this.queuePairs.connections();
		return channels.stream()
			.anyMatch(
					(channel) -> channel.handler() instanceof ClientConnection connection && own.contains(connection));
	}

	@Override
	public void connected() {
		this.gone.set(false);
	}

	/** What takes all queue pairs at once is one failure, and a goodbye is none. */
	@Override
	public void lost(boolean orderly) {
		if (!orderly && !this.queuePairs.isOpen() && this.gone.compareAndSet(false, true)) {
			this.observed.failed();
		}
		this.troubled.run();
	}

	@Override
	public void unreachable() {
		this.troubled.run();
	}

	@Override
	public void answered(int status) {
		if (status == RpcStatus.UNAVAILABLE.code()) {
			this.observed.failed();
		}
		else {
			this.observed.succeeded();
		}
	}

	AddressHealth health() {
		return new AddressHealth(this.name, this.queuePairs.state(), this.observed.isEjected(),
				this.observed.ejections(), this.queuePairs.open(), outstandingCalls(), this.queuePairs.lastFailure());
	}

	/** Calls that are outstanding are finished; there are no others. */
	void close() {
		this.observed.forget();
		this.queuePairs.close();
	}

}
