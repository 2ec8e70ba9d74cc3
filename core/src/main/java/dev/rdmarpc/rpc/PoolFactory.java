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
import java.util.List;
import java.util.function.Function;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.balancing.AddressResolver;
import dev.rdmarpc.balancing.LoadBalancer;
import dev.rdmarpc.balancing.OutlierDetector;
import dev.rdmarpc.balancing.OutlierOptions;
import dev.rdmarpc.transport.RailHistory;
import dev.rdmarpc.transport.RdmaTransport;

/**
 * Makes the queue pairs of one client, which do not connect yet.
 *
 * @param transport for connections
 * @param loops of the client
 * @param codec name of the codec
 * @param options of the client
 * @param methods that peers are asked about
 */
record PoolFactory(RdmaTransport transport, ClientLoops loops, String codec, RpcClientOptions options,
		ClientMethods methods) {

	/** Those to a single address. */
	ChannelSource one(String target, Supplier<InetSocketAddress> address) {
		return pool(target, address, new PoolCounters());
	}

	/** Those to addresses that do not change. */
	ChannelSource several(String target, List<InetSocketAddress> addresses, LoadBalancer balancer,
			OutlierOptions outliers) {
		BalancedPools pools = balanced(target, balancer, outliers, null);
		pools.update(addresses, (address) -> "");
		return pools;
	}

	/** Those to addresses that come and go. */
	ChannelSource changing(String target, AddressResolver resolver, LoadBalancer balancer, OutlierOptions outliers) {
		return balanced(target, balancer, outliers, (pools) -> new AddressRefresh(target, resolver, this.transport,
				this.options, (found) -> pools.update(found, resolver::zone), pools::notFound));
	}

	private BalancedPools balanced(String target, LoadBalancer balancer, OutlierOptions outliers,
			@Nullable Function<BalancedPools, AddressRefresh> refresh) {
		PoolCounters all = new PoolCounters();
		OutlierDetector detector = new OutlierDetector(outliers);
		return new BalancedPools(target, balancer,
				(pools, address) -> new AddressPool(address, target, detector, pools::troubled,
						(pool, name) -> pool(name, pool::resolved, new PoolCounters(all, pool))),
				all, this.options.queuePairs(), refresh);
	}

	private QueuePairPool pool(String target, Supplier<InetSocketAddress> address, PoolCounters counters) {
		RailHistory history = new RailHistory(this.loops.rails(), this.options.rails());
		return new QueuePairPool(
				() -> new ClientConnection((handler) -> new AttemptContext(this.transport, target, address,
						this.options, this.loops, history, handler), this.codec, counters, this.methods),
				this.options.queuePairs(), this.transport.timer(), counters);
	}

}
