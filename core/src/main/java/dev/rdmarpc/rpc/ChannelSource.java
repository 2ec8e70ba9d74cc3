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

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.transport.RpcChannel;

/**
 * Where the calls of a client find a channel: the queue pairs to one address, or to
 * several. Thread-safe.
 */
interface ChannelSource extends QueuePairPoolMetrics {

	/**
	 * An open channel for a call, or {@code null} if none is open.
	 * @param key of the call, only if there are {@link #keys}
	 */
	@Nullable RpcChannel openChannel(long key);

	/**
	 * An open channel for another attempt of a call, to another address than those before
	 * if one is available, or {@code null} if none is open.
	 * @param used the channels of the attempts before
	 */
	default @Nullable RpcChannel openChannel(long key, List<RpcChannel> used) {
		return openChannel(key);
	}

	/**
	 * An open channel, soon; whichever connection has one first.
	 * @param waitForReady whether to sit out pauses between attempts
	 * @return completed on any thread, exceptionally with an {@link RpcException} that
	 * names no method yet; not to be completed by others
	 */
	CompletableFuture<RpcChannel> channel(boolean waitForReady);

	/** Whether the channel depends on the keys of calls. */
	default boolean keys() {
		return false;
	}

	/** Whether it matters how calls end. */
	default boolean observes() {
		return false;
	}

	/** There are new methods, which the target must be asked about. */
	void agree();

	/** Begins to connect all that are kept. */
	void connect();

	/** The name of the target. */
	String target();

	/** How long the target may still be restarting, or something negative. */
	long restartingNanos();

	/** The connections at this instant. */
	List<ClientConnection> connections();

	/** The addresses at this instant. */
	List<AddressHealth> addresses();

	/**
	 * Has a consumer told the addresses, now and whenever they have changed. One that is
	 * alone is not told, since it is the target.
	 */
	default void onAddresses(Consumer<List<String>> consumer) {
	}

	/** The best that can be said of any connection. */
	ConnectionState state();

	/** Why there is none that works, or an empty string. */
	String lastFailure();

	/** What a call is told of the pause between attempts, or an empty string. */
	String pauseSince(long nanos);

	/** What has happened to its connections, and to calls because of them. */
	PoolCounters counters();

	@Override
	default long connects() {
		return counters().connects.sum();
	}

	@Override
	default long growths() {
		return counters().growths.sum();
	}

	@Override
	default long shrinks() {
		return counters().shrinks.sum();
	}

	@Override
	default long losses() {
		return counters().losses.sum();
	}

	@Override
	default long repetitions() {
		return counters().repetitions.sum();
	}

	/** A call is made again. */
	default void repeated() {
		counters().repetitions.increment();
	}

	/** Says goodbye on all connections; outstanding calls are finished. */
	void close();

}
