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

package dev.rdmarpc.boot.autoconfigure;

import java.net.InetAddress;
import java.time.Duration;
import java.util.Map;

import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.util.unit.DataSize;

import dev.rdmarpc.memory.LeakDetection;
import dev.rdmarpc.transport.PollingMode;
import dev.rdmarpc.verbs.iwarp.CrcMode;

/**
 * The properties of RDMA RPC.
 *
 * @param provider Name of the verbs provider, such as 'iwarp'. With 'auto' the best
 * available one is taken.
 * @param device Name of the provider's device. By default the provider chooses.
 * @param eagerLimit Largest message that is sent in frames. The peer reads larger ones by
 * itself, once it has memory for them.
 * @param memory Registered memory.
 * @param queuePairs Queue pairs and their receive buffers.
 * @param polling How threads wait for completions.
 * @param codec FlatBuffers codec.
 * @param iwarp User-space iWARP provider.
 * @param observation Observation of calls.
 * @param server Server.
 * @param client Clients by the names of their targets. The entry 'default' holds what
 * applies to all targets that do not say otherwise.
 */
@ConfigurationProperties("rdma.rpc")
public record RdmaRpcProperties(@DefaultValue("auto") String provider, @DefaultValue("") String device,
		@DefaultValue("40KB") DataSize eagerLimit, @DefaultValue Memory memory, @DefaultValue QueuePairs queuePairs,
		@DefaultValue Polling polling, @DefaultValue Codec codec, @DefaultValue Iwarp iwarp,
		@DefaultValue Observation observation, @DefaultValue Server server, @DefaultValue Map<String, Client> client) {

	/** The entry of {@link #client()} that applies to all targets. */
	public static final String DEFAULT_CLIENT = "default";

	/** The port of servers, and of targets, unless configured. */
	public static final int DEFAULT_PORT = 7471;

	/**
	 * Registered memory.
	 *
	 * @param initial Memory registered at start-up and kept. A multiple of 4KB.
	 * @param max Budget. The pool never has more direct memory; calls that find none
	 * wait, then fail with RESOURCE_EXHAUSTED. A multiple of 4KB.
	 * @param extent By how much the pool grows and shrinks. A multiple of 4KB.
	 * @param threadCache Free memory that a thread may keep for itself. 0 for none. All
	 * threads together keep at most a quarter of max.
	 * @param allocationTimeout How long an allocation waits for others to release.
	 * @param leakDetection How hard to look for buffers that are never released.
	 * @param registrationCache How much memory of the application's own stays registered
	 * when it is not in use.
	 * @param retention How long memory of the pool that nobody uses stays registered, for
	 * the next who needs it.
	 */
	public record Memory(@DefaultValue("16MB") DataSize initial, @DefaultValue("256MB") DataSize max,
			@DefaultValue("4MB") DataSize extent, @DefaultValue("1MB") DataSize threadCache,
			@DefaultValue("100ms") Duration allocationTimeout, @DefaultValue("disabled") LeakDetection leakDetection,
			@DefaultValue("64MB") DataSize registrationCache, @DefaultValue("1s") Duration retention) {

	}

	/**
	 * Queue pairs and their receive buffers.
	 *
	 * @param frameSize Size of a receive buffer, and so of the largest frame accepted. A
	 * multiple of 8 bytes.
	 * @param minCredits Receives kept posted for a peer that is idle.
	 * @param credits Receives kept posted for a peer that is busy, if there is memory.
	 * @param maxReceives Receives posted at once for all peers of a loop.
	 * @param sendDepth Work requests outstanding per queue pair.
	 * @param readDepth RDMA Reads outstanding per queue pair and direction.
	 */
	public record QueuePairs(@DefaultValue("8KB") DataSize frameSize, @DefaultValue("8") int minCredits,
			@DefaultValue("128") int credits, @DefaultValue("65536") int maxReceives,
			@DefaultValue("256") int sendDepth, @DefaultValue("16") int readDepth) {

	}

	/**
	 * How threads wait for completions.
	 *
	 * @param mode Whether to poll for ever, to poll and then wait for an event, or to
	 * wait for events only. By default adaptive, and event driven on a single processor.
	 * @param spinBudget How long to poll without success before waiting for an event, in
	 * adaptive mode. About one round trip is right; it is extended up to four times while
	 * that pays, and up to five times while a large message is under way.
	 */
	public record Polling(@Nullable PollingMode mode, @DefaultValue("50us") Duration spinBudget) {

	}

	/**
	 * FlatBuffers codec.
	 *
	 * @param gatherThreshold Byte arrays and buffers of at least this size are referenced
	 * by a message, smaller ones are copied into it.
	 * @param maxDepth Tables nested in each other at most.
	 * @param maxAmplification How many bytes a received message may make its reader visit
	 * and allocate per byte of its own. More fail with RESOURCE_EXHAUSTED.
	 * @param maxDecodedSize Heap that the values of received messages may take at once.
	 * More fail with RESOURCE_EXHAUSTED. By default a quarter of the heap.
	 */
	public record Codec(@DefaultValue("512B") DataSize gatherThreshold, @DefaultValue("64") int maxDepth,
			@DefaultValue("40") int maxAmplification, @Nullable DataSize maxDecodedSize) {

	}

	/**
	 * User-space iWARP provider.
	 *
	 * @param crc When to ask peers for a CRC of every frame. 'auto' asks unless the peer
	 * is on this host.
	 * @param maxSegmentSize Longest DDP segment sent. By default derived for each
	 * connection from its path.
	 * @param copyThreshold Pieces of a payload up to this size are copied behind their
	 * header; longer ones are handed to the socket where they lie.
	 * @param directReceiveThreshold When at least this much of a segment is still in the
	 * socket, it is read straight to its place.
	 * @param sendBuffer Socket send buffer. By default left to the system.
	 * @param receiveBuffer Socket receive buffer. By default left to the system.
	 * @param peerToPeer Whether to announce, as the connecting side, that the listening
	 * side may send first (RFC 6581).
	 * @param maxQueuePairs Queue pairs open at once.
	 * @param maxReadDepth RDMA Reads outstanding in one direction of a connection.
	 * @param drainTimeout How long an orderly disconnect waits for posted work to leave.
	 * @param lingerTimeout How long the last words of a connection may take to reach the
	 * peer.
	 * @param frameTimeout How long a frame that a peer has begun may take to arrive whole
	 * before the connection ends. 0 is without limit.
	 * @param staging Memory of each loop for what peers have begun: parts of frames, and
	 * bytes that they do not take. When it is used up, the connection ends that has held
	 * some for longest. By default a 64th of rdma.rpc.memory.max, 1MB to 64MB.
	 */
	public record Iwarp(@DefaultValue("auto") CrcMode crc, @Nullable DataSize maxSegmentSize,
			@DefaultValue("2KB") DataSize copyThreshold, @DefaultValue("8KB") DataSize directReceiveThreshold,
			@Nullable DataSize sendBuffer, @Nullable DataSize receiveBuffer, @DefaultValue("true") boolean peerToPeer,
			@DefaultValue("65536") int maxQueuePairs, @DefaultValue("128") int maxReadDepth,
			@DefaultValue("5s") Duration drainTimeout, @DefaultValue("2s") Duration lingerTimeout,
			@DefaultValue("10s") Duration frameTimeout, @Nullable DataSize staging) {

	}

	/**
	 * Observation of calls.
	 *
	 * @param client Whether to observe the calls that this application makes.
	 * @param server Whether to observe the calls that this application serves.
	 */
	public record Observation(@DefaultValue("true") boolean client, @DefaultValue("true") boolean server) {

	}

	/**
	 * Server.
	 *
	 * @param enabled Whether to serve the beans annotated with '@RdmaService'.
	 * @param address Network address to listen on. By default all of this host.
	 * @param port Port to listen on. Use 0 for one of the system's choice, which is then
	 * found in the property 'local.rdma.port'.
	 * @param loops Threads that share the connections.
	 * @param maxConnections Connections at once. More are rejected, unless one that has
	 * said nothing since it connected can make room.
	 * @param maxConcurrentCalls Calls executed at once, those that wait for a thread
	 * included. One connection may have four times what remains for others. More fail
	 * with RESOURCE_EXHAUSTED.
	 * @param maxCallsPerConnection Calls outstanding on one connection.
	 * @param maxMessageSize Largest request accepted and largest reply sent.
	 * @param maxUnfinishedSize Memory for requests of one connection that have arrived in
	 * part. More are refused with RESOURCE_EXHAUSTED, but one alone is always taken.
	 * @param handshakeTimeout Time a peer has to set up a connection, and then as much
	 * again to call or to answer.
	 * @param keepAlive Silence after which a peer is asked whether it is alive.
	 * @param deadPeerTimeout Silence after which a peer is taken for dead. More than
	 * keep-alive.
	 * @param drainTimeout How long shutting down waits for outstanding calls.
	 */
	public record Server(@DefaultValue("true") boolean enabled, @Nullable InetAddress address,
			@DefaultValue("" + DEFAULT_PORT) int port, @DefaultValue("1") int loops,
			@DefaultValue("1024") int maxConnections, @DefaultValue("1024") int maxConcurrentCalls,
			@DefaultValue("4096") int maxCallsPerConnection, @DefaultValue("16MB") DataSize maxMessageSize,
			@DefaultValue("64MB") DataSize maxUnfinishedSize, @DefaultValue("5s") Duration handshakeTimeout,
			@DefaultValue("10s") Duration keepAlive, @DefaultValue("30s") Duration deadPeerTimeout,
			@DefaultValue("10s") Duration drainTimeout) {

	}

	/**
	 * The client of one target. What is not set comes from the entry 'default', then from
	 * the built-in defaults.
	 *
	 * @param host Name or address of the target.
	 * @param port Port of the target. Use 0 for the port on which this application's own
	 * server listens.
	 * @param required Whether the application cannot do without this target: it is
	 * connected at start-up, and health is DOWN while there is no connection.
	 * @param deadline Deadline of calls that have none of their own. 0 for none.
	 * @param connectTimeout How long a call waits for a connection that is being set up.
	 * @param initialBackoff Pause after the first failure to connect. It doubles from
	 * failure to failure.
	 * @param maxBackoff Longest pause between attempts to connect. While a call waits for
	 * a connection it is at most 250ms.
	 * @param handshakeTimeout Time the target has to set up a connection.
	 * @param keepAlive Silence after which the target is asked whether it is alive.
	 * @param deadPeerTimeout Silence after which the target is taken for dead. More than
	 * keep-alive.
	 * @param maxMessageSize Largest request sent and largest reply accepted.
	 * @param maxCalls Calls outstanding at once.
	 * @param queuePairs Queue pairs to the target.
	 */
	public record Client(@Nullable String host, @Nullable Integer port, @Nullable Boolean required,
			@Nullable Duration deadline, @Nullable Duration connectTimeout, @Nullable Duration initialBackoff,
			@Nullable Duration maxBackoff, @Nullable Duration handshakeTimeout, @Nullable Duration keepAlive,
			@Nullable Duration deadPeerTimeout, @Nullable DataSize maxMessageSize, @Nullable Integer maxCalls,
			@Nullable ClientQueuePairs queuePairs) {

		/** Nothing set. */
		static final Client EMPTY = new Client(null, null, null, null, null, null, null, null, null, null, null, null,
				null);

	}

	/**
	 * Queue pairs that a client keeps to its target.
	 *
	 * @param min Queue pairs kept.
	 * @param max Queue pairs at most. Those above the minimum come and go with the load.
	 * @param callsPerQueuePair Calls outstanding on the least busy queue pair at which
	 * another one is added.
	 * @param idleTimeout After which an additional queue pair without calls is closed.
	 */
	public record ClientQueuePairs(@Nullable Integer min, @Nullable Integer max, @Nullable Integer callsPerQueuePair,
			@Nullable Duration idleTimeout) {

		/** Nothing set. */
		static final ClientQueuePairs EMPTY = new ClientQueuePairs(null, null, null, null);

	}

}
