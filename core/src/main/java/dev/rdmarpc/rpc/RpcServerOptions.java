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
import java.time.Duration;

import dev.rdmarpc.transport.ChannelOptions;
import dev.rdmarpc.transport.PeerLimits;

/**
 * The settings of a server.
 *
 * @param address where to listen; port 0 lets the system choose
 * @param channel limits and timeouts of accepted channels
 * @param loops loops, each with a thread, that share the channels
 * @param maxConnections maximum number of connections; more are rejected, unless one that
 * has been silent since it connected can be evicted
 * @param maxConcurrentCalls maximum number of concurrent calls, including queued ones;
 * one connection may have four times what remains for others; more get
 * {@link RpcStatus#RESOURCE_EXHAUSTED}
 * @param drainTimeout how long stopping waits for outstanding calls
 * @param handlers where handlers run
 * @param peers what the callers of one address get of the connections, and what one
 * principal gets
 */
public record RpcServerOptions(InetSocketAddress address, ChannelOptions channel, int loops, int maxConnections,
		int maxConcurrentCalls, Duration drainTimeout, HandlerOptions handlers, PeerLimits peers) {

	/**
	 * All addresses, a port that the system chooses, one loop, 1024 connections and
	 * calls.
	 */
	public static final RpcServerOptions DEFAULTS = new RpcServerOptions(new InetSocketAddress(0),
			ChannelOptions.DEFAULTS, 1, 1024, 1024, Duration.ofSeconds(10), HandlerOptions.DEFAULTS,
			PeerLimits.DEFAULTS);

	/**
	 * Checks the bounds.
	 * @throws IllegalArgumentException naming the value and what was expected
	 */
	public RpcServerOptions {
		if (loops < 1 || maxConnections < 1 || maxConcurrentCalls < 1) {
			throw new IllegalArgumentException(loops + " loops, " + maxConnections + " connections, "
					+ maxConcurrentCalls + " concurrent calls (expected: all at least 1)");
		}
		if (drainTimeout.isNegative()) {
			throw new IllegalArgumentException("drain timeout " + drainTimeout + " (expected: not negative)");
		}
	}

	/** These options at another port of the loopback interface. */
	public RpcServerOptions withLoopback(int port) {
		return withAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
	}

	/** These options at another address. */
	public RpcServerOptions withAddress(InetSocketAddress other) {
		return new RpcServerOptions(other, this.channel, this.loops, this.maxConnections, this.maxConcurrentCalls,
				this.drainTimeout, this.handlers, this.peers);
	}

	/** These options with other channels. */
	public RpcServerOptions withChannel(ChannelOptions other) {
		return new RpcServerOptions(this.address, other, this.loops, this.maxConnections, this.maxConcurrentCalls,
				this.drainTimeout, this.handlers, this.peers);
	}

	/** These options with other limits. */
	public RpcServerOptions withLimits(int connections, int concurrentCalls) {
		return new RpcServerOptions(this.address, this.channel, this.loops, connections, concurrentCalls,
				this.drainTimeout, this.handlers, this.peers);
	}

	/** These options with another number of loops. */
	public RpcServerOptions withLoops(int count) {
		return new RpcServerOptions(this.address, this.channel, count, this.maxConnections, this.maxConcurrentCalls,
				this.drainTimeout, this.handlers, this.peers);
	}

	/** These options with another time to drain. */
	public RpcServerOptions withDrainTimeout(Duration timeout) {
		return new RpcServerOptions(this.address, this.channel, this.loops, this.maxConnections,
				this.maxConcurrentCalls, timeout, this.handlers, this.peers);
	}

	/** These options with other handler options. */
	public RpcServerOptions withHandlers(HandlerOptions other) {
		return new RpcServerOptions(this.address, this.channel, this.loops, this.maxConnections,
				this.maxConcurrentCalls, this.drainTimeout, other, this.peers);
	}

	/** These options with other limits for the callers of one address or principal. */
	public RpcServerOptions withPeers(PeerLimits other) {
		return new RpcServerOptions(this.address, this.channel, this.loops, this.maxConnections,
				this.maxConcurrentCalls, this.drainTimeout, this.handlers, other);
	}

}
