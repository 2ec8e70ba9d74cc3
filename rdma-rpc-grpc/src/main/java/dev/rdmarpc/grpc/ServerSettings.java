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
import java.util.List;
import java.util.concurrent.TimeUnit;

import io.grpc.ServerStreamTracer;

import dev.rdmarpc.transport.ChannelOptions;
import dev.rdmarpc.transport.PeerLimits;

/**
 * The settings of a server.
 *
 * @param address where it listens
 * @param channel of each connection
 * @param loops loops, each with a thread, that share the connections
 * @param maxConnections more are rejected
 * @param maxConcurrentCalls more are refused
 * @param peers what one address and one principal get
 * @param maxMessageBytes largest message accepted
 * @param maxMetadataBytes most headers accepted
 * @param maxIdleNanos after which a connection without calls is closed
 * @param maxAgeNanos after which a connection accepts no new calls
 * @param maxAgeGraceNanos after which it is closed then
 * @param farewellNanos how long a caller may not know that its connection accepts none
 * @param tracers of calls
 */
record ServerSettings(InetSocketAddress address, ChannelOptions channel, int loops, int maxConnections,
		int maxConcurrentCalls, PeerLimits peers, int maxMessageBytes, int maxMetadataBytes, long maxIdleNanos,
		long maxAgeNanos, long maxAgeGraceNanos, long farewellNanos,
		List<? extends ServerStreamTracer.Factory> tracers) {

	/** A time that is none. */
	static final long NEVER = Long.MAX_VALUE;

	/** What times above are meant to be none. */
	private static final long LONGEST_NANOS = TimeUnit.DAYS.toNanos(1000);

	/** A time as gRPC's builders get it. */
	static long nanos(long time, TimeUnit unit, String what) {
		if (time <= 0) {
			throw new IllegalArgumentException(what + " " + time + " (expected: more than 0)");
		}
		long nanos = unit.toNanos(time);
		return (nanos >= LONGEST_NANOS) ? NEVER : nanos;
	}

}
