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

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.FileSystems;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Objects;

import org.jspecify.annotations.Nullable;
import org.springframework.util.unit.DataSize;

import dev.rdmarpc.boot.autoconfigure.RdmaRpcProperties.Codec;
import dev.rdmarpc.boot.autoconfigure.RdmaRpcProperties.GrpcServer;
import dev.rdmarpc.boot.autoconfigure.RdmaRpcProperties.Iwarp;
import dev.rdmarpc.boot.autoconfigure.RdmaRpcProperties.Memory;
import dev.rdmarpc.boot.autoconfigure.RdmaRpcProperties.Polling;
import dev.rdmarpc.boot.autoconfigure.RdmaRpcProperties.QueuePairs;
import dev.rdmarpc.boot.autoconfigure.RdmaRpcProperties.Scheduler;
import dev.rdmarpc.boot.autoconfigure.RdmaRpcProperties.Server;
import dev.rdmarpc.boot.autoconfigure.RdmaRpcProperties.Shm;
import dev.rdmarpc.flatbuffers.FlatBuffersOptions;
import dev.rdmarpc.memory.MemoryOptions;
import dev.rdmarpc.rpc.HandlerOptions;
import dev.rdmarpc.rpc.RpcServerOptions;
import dev.rdmarpc.transport.ChannelOptions;
import dev.rdmarpc.transport.PeerLimits;
import dev.rdmarpc.transport.PollingOptions;
import dev.rdmarpc.transport.PrincipalLimits;
import dev.rdmarpc.transport.SchedulerOptions;
import dev.rdmarpc.transport.TransportOptions;
import dev.rdmarpc.verbs.iwarp.IwarpOptions;
import dev.rdmarpc.verbs.shm.SharedMemoryOptions;
import dev.rdmarpc.verbs.shm.SharedMemoryTrust;

/**
 * Makes the options of the core from properties. What the core would refuse is refused
 * here, with the name of the property at fault.
 */
final class PropertyMapping {

	/** With less, not even the metadata of a call has room. */
	private static final int LEAST_MESSAGE_BYTES = 1024;

	private static final int MAX_MESSAGE_BYTES = Integer.MAX_VALUE / 2;

	/** What part of the budget is the memory for what peers have begun. */
	private static final long STAGING_SHARE = 64;

	private static final long LEAST_STAGING_BYTES = 1 << 20;

	private static final long MOST_STAGING_BYTES = 64 << 20;

	private PropertyMapping() {
	}

	static MemoryOptions memory(Memory memory) {
		String prefix = "rdma.rpc.memory.";
		int page = MemoryOptions.PAGE_BYTES;
		long max = memory.max().toBytes();
		PropertyCheck.that(max >= page && max % page == 0, prefix + "max", memory.max(),
				"a positive multiple of " + page + "B");
		long initial = memory.initial().toBytes();
		PropertyCheck.that(initial >= 0 && initial <= max && initial % page == 0, prefix + "initial", memory.initial(),
				"a multiple of " + page + "B from 0B to " + prefix + "max, which is " + memory.max());
		return new MemoryOptions(initial, max,
				PropertyCheck.bytes(prefix + "extent", memory.extent(), page, MemoryOptions.MAX_EXTENT_BYTES, page),
				PropertyCheck.bytes(prefix + "thread-cache", memory.threadCache(), 0, Integer.MAX_VALUE, 1),
				PropertyCheck.notNegative(prefix + "allocation-timeout", memory.allocationTimeout()),
				memory.leakDetection(), bytes(prefix + "registration-cache", memory.registrationCache()),
				PropertyCheck.notNegative(prefix + "retention", memory.retention()));
	}

	private static long bytes(String name, DataSize value) {
		PropertyCheck.that(!value.isNegative(), name, value, "at least 0B");
		return value.toBytes();
	}

	static TransportOptions transport(RdmaRpcProperties properties) {
		PropertyCheck.that(!properties.provider().isBlank(), "rdma.rpc.provider", properties.provider(),
				"the name of a provider, or " + TransportOptions.AUTO);
		checkRoom(properties.memory(), properties.queuePairs());
		QueuePairs queuePairs = properties.queuePairs();
		String prefix = "rdma.rpc.queue-pairs.";
		int least = ChannelOptions.MIN_CREDITS;
		return new TransportOptions(providers(properties), properties.device(), polling(properties.polling()),
				PropertyCheck.range(prefix + "max-receives", queuePairs.maxReceives(), least, Integer.MAX_VALUE),
				PropertyCheck.range(prefix + "send-depth", queuePairs.sendDepth(), least, Integer.MAX_VALUE),
				PropertyCheck.range(prefix + "read-depth", queuePairs.readDepth(), 1, Integer.MAX_VALUE),
				scheduler(properties.scheduler()));
	}

	/** Nothing works where not even one connection has its receives, and room to send. */
	private static void checkRoom(Memory memory, QueuePairs queuePairs) {
		long frameBytes = queuePairs.frameSize().toBytes();
		long bytes = 2L * queuePairs.minCredits() * frameBytes;
		PropertyCheck.that(memory.max().toBytes() >= bytes || frameBytes > ChannelOptions.MAX_FRAME_BYTES,
				"rdma.rpc.memory.max", memory.max(),
				"at least " + bytes + "B, which one connection takes: twice 'rdma.rpc.queue-pairs.min-credits' ("
						+ queuePairs.minCredits() + ") of 'rdma.rpc.queue-pairs.frame-size' (" + queuePairs.frameSize()
						+ ")");
	}

	private static SchedulerOptions scheduler(Scheduler scheduler) {
		String prefix = "rdma.rpc.scheduler.";
		int least = PropertyCheck.bytes(prefix + "min-slice", scheduler.minSlice(), SchedulerOptions.LEAST_SLICE_BYTES,
				SchedulerOptions.MOST_SLICE_BYTES, 1);
		int window = PropertyCheck.bytes(prefix + "min-window", scheduler.minWindow(), least,
				SchedulerOptions.MOST_WINDOW_BYTES, 1);
		return new SchedulerOptions(least,
				PropertyCheck.bytes(prefix + "max-slice", scheduler.maxSlice(), least,
						SchedulerOptions.MOST_SLICE_BYTES, 1),
				window, PropertyCheck.bytes(prefix + "max-window", scheduler.maxWindow(), window,
						SchedulerOptions.MOST_WINDOW_BYTES, 1));
	}

	private static List<String> providers(RdmaRpcProperties properties) {
		List<String> names = properties.providers();
		if (names.isEmpty()) {
			return List.of(properties.provider());
		}
		String property = "rdma.rpc.providers";
		PropertyCheck.that(properties.provider().equals(TransportOptions.AUTO), property, names,
				"none, since 'rdma.rpc.provider' is " + properties.provider());
		PropertyCheck.that(!names.contains(TransportOptions.AUTO) || names.size() == 1, property, names,
				"names of providers, or " + TransportOptions.AUTO + " alone");
		return PropertyCheck.names(property, names);
	}

	private static PollingOptions polling(Polling polling) {
		Duration most = polling.spinMax();
		PropertyCheck.that(!most.isNegative() && most.compareTo(Duration.ofSeconds(1)) <= 0,
				"rdma.rpc.polling.spin-max", most, "from 0s to 1s");
		return new PollingOptions((polling.mode() != null) ? polling.mode() : PollingOptions.DEFAULTS.mode(),
				most.toNanos());
	}

	static FlatBuffersOptions codec(Codec codec) {
		String prefix = "rdma.rpc.codec.";
		DataSize decoded = codec.maxDecodedSize();
		PropertyCheck.that(decoded == null || decoded.toBytes() >= FlatBuffersOptions.MIN_DECODED_BYTES,
				prefix + "max-decoded-size", String.valueOf(decoded), "at least 1MB");
		return new FlatBuffersOptions(
				PropertyCheck.bytes(prefix + "gather-threshold", codec.gatherThreshold(), 0, Integer.MAX_VALUE, 1),
				PropertyCheck.range(prefix + "max-depth", codec.maxDepth(), 1, 1000),
				PropertyCheck.range(prefix + "max-amplification", codec.maxAmplification(), 1, Integer.MAX_VALUE),
				(decoded != null) ? decoded.toBytes() : FlatBuffersOptions.DEFAULTS.maxDecodedBytes());
	}

	static IwarpOptions iwarp(Iwarp iwarp, Memory memory) {
		String prefix = "rdma.rpc.iwarp.";
		DataSize segment = iwarp.maxSegmentSize();
		int segmentBytes = (segment != null) ? PropertyCheck.bytes(prefix + "max-segment-size", segment,
				IwarpOptions.MIN_ULPDU_BYTES, IwarpOptions.MAX_ULPDU_BYTES, 1) : 0;
		return new IwarpOptions(iwarp.crc(), segmentBytes,
				PropertyCheck.bytes(prefix + "copy-threshold", iwarp.copyThreshold(), 0, IwarpOptions.MAX_ULPDU_BYTES,
						1),
				PropertyCheck.bytes(prefix + "direct-receive-threshold", iwarp.directReceiveThreshold(), 1,
						Integer.MAX_VALUE, 1),
				socketBuffer(prefix + "send-buffer", iwarp.sendBuffer()),
				socketBuffer(prefix + "receive-buffer", iwarp.receiveBuffer()), iwarp.peerToPeer(),
				PropertyCheck.range(prefix + "max-queue-pairs", iwarp.maxQueuePairs(), 1, 1 << 24),
				PropertyCheck.range(prefix + "max-read-depth", iwarp.maxReadDepth(), 1, IwarpOptions.MAX_READ_DEPTH),
				PropertyCheck.notNegative(prefix + "drain-timeout", iwarp.drainTimeout()),
				PropertyCheck.notNegative(prefix + "linger-timeout", iwarp.lingerTimeout()),
				PropertyCheck.notNegative(prefix + "frame-timeout", iwarp.frameTimeout()),
				stagingBytes(prefix + "staging", iwarp.staging(), memory.max().toBytes()));
	}

	static SharedMemoryOptions shm(Shm shm) {
		String prefix = "rdma.rpc.shm.";
		int ringBytes = PropertyCheck.bytes(prefix + "ring-size", shm.ringSize(), SharedMemoryOptions.MIN_RING_BYTES,
				SharedMemoryOptions.MAX_RING_BYTES, 1);
		PropertyCheck.that(Integer.bitCount(ringBytes) == 1, prefix + "ring-size", shm.ringSize(), "a power of two");
		String group = shm.group();
		PropertyCheck.that(group == null || isGroup(group), prefix + "group", String.valueOf(group),
				"the name or number of a group of this host");
		return new SharedMemoryOptions(shm.directory(), group, ringBytes,
				PropertyCheck.range(prefix + "max-queue-pairs", shm.maxQueuePairs(), 1, 1 << 24),
				PropertyCheck.range(prefix + "max-read-depth", shm.maxReadDepth(), 1,
						SharedMemoryOptions.MAX_READ_DEPTH),
				PropertyCheck.notNegative(prefix + "drain-timeout", shm.drainTimeout()), shm.trust());
	}

	/**
	 * A property that says that shared memory is wanted, {@code null} if there is none.
	 */
	static @Nullable String anyOf(Shm shm) {
		String prefix = "rdma.rpc.shm.";
		if (shm.directory() != null) {
			return prefix + "directory";
		}
		if (shm.group() != null) {
			return prefix + "group";
		}
		return (shm.trust() != SharedMemoryTrust.NONE) ? prefix + "trust" : null;
	}

	private static boolean isGroup(String group) {
		try {
			FileSystems.getDefault().getUserPrincipalLookupService().lookupPrincipalByGroupName(group);
			return true;
		}
		catch (IOException | UnsupportedOperationException ex) {
			return false;
		}
	}

	private static int stagingBytes(String name, @Nullable DataSize size, long memoryBytes) {
		int step = IwarpOptions.MIN_STAGING_BYTES;
		if (size != null) {
			return PropertyCheck.bytes(name, size, step, IwarpOptions.MAX_STAGING_BYTES, step);
		}
		long share = memoryBytes / STAGING_SHARE / step * step;
		return (int) Math.max(LEAST_STAGING_BYTES, Math.min(MOST_STAGING_BYTES, share));
	}

	private static int socketBuffer(String name, @Nullable DataSize size) {
		return (size != null) ? PropertyCheck.bytes(name, size, 1, Integer.MAX_VALUE, 1) : 0;
	}

	static RpcServerOptions server(RdmaRpcProperties properties) {
		Server server = properties.server();
		String prefix = "rdma.rpc.server.";
		int port = PropertyCheck.range(prefix + "port", server.port(), 0, 65535);
		InetSocketAddress address = (server.address() != null) ? new InetSocketAddress(server.address(), port)
				: new InetSocketAddress(port);
		ChannelOptions channel = channel(properties, messageBytes(prefix + "max-message-size", server.maxMessageSize()),
				unfinishedBytes(prefix + "max-unfinished-size", server.maxUnfinishedSize()),
				PropertyCheck.range(prefix + "max-calls-per-connection", server.maxCallsPerConnection(), 1,
						ChannelOptions.MAX_CALLS),
				PropertyCheck.positive(prefix + "handshake-timeout", server.handshakeTimeout()),
				PropertyCheck.positive(prefix + "keep-alive", server.keepAlive()),
				deadPeer(prefix + "dead-peer-timeout", server.deadPeerTimeout(), prefix + "keep-alive",
						server.keepAlive()));
		return new RpcServerOptions(address, channel, PropertyCheck.range(prefix + "loops", server.loops(), 1, 1024),
				PropertyCheck.range(prefix + "max-connections", server.maxConnections(), 1, Integer.MAX_VALUE),
				PropertyCheck.range(prefix + "max-concurrent-calls", server.maxConcurrentCalls(), 1, Integer.MAX_VALUE),
				PropertyCheck.notNegative(prefix + "drain-timeout", server.drainTimeout()), handlers(server),
				peers(properties));
	}

	/** What servers, that of gRPC too, grant one address and one principal. */
	static PeerLimits peers(RdmaRpcProperties properties) {
		Server server = properties.server();
		String prefix = "rdma.rpc.server.";
		DataSize size = server.maxRequestSizePerPrincipal();
		PropertyCheck.that(size == null || size.toBytes() >= 1, prefix + "max-request-size-per-principal",
				String.valueOf(size), "at least 1B");
		DataSize replies = server.maxReplySizePerPeer();
		PropertyCheck.that(replies == null || replies.toBytes() >= 1, prefix + "max-reply-size-per-peer",
				String.valueOf(replies), "at least 1B");
		return new PeerLimits(
				PropertyCheck.range(prefix + "max-connections-per-address", server.maxConnectionsPerAddress(), 1,
						Integer.MAX_VALUE),
				PropertyCheck.range(prefix + "max-handshakes-per-second", server.maxHandshakesPerSecond(), 1,
						Integer.MAX_VALUE),
				new PrincipalLimits(
						PropertyCheck.range(prefix + "max-connections-per-principal",
								server.maxConnectionsPerPrincipal(), 1, Integer.MAX_VALUE),
						PropertyCheck.range(prefix + "max-calls-per-principal", server.maxCallsPerPrincipal(), 1,
								Integer.MAX_VALUE),
						(size != null) ? size.toBytes() : PrincipalLimits.BY_MEMORY),
				(replies != null) ? replies.toBytes() : PeerLimits.BY_MEMORY);
	}

	private static HandlerOptions handlers(Server server) {
		String prefix = "rdma.rpc.server.";
		PropertyCheck.that(server.handlerThreads().isAvailable(), prefix + "handler-threads",
				server.handlerThreads().name().toLowerCase(Locale.ROOT),
				"auto or platform on Java " + Runtime.version().feature() + ", which has no virtual threads");
		return new HandlerOptions(server.dispatch(), server.handlerThreads(),
				PropertyCheck.range(prefix + "max-handler-threads", server.maxHandlerThreads(), 1, Integer.MAX_VALUE));
	}

	/**
	 * Where gRPC's server listens, if there is to be one, and its other values checked.
	 */
	static InetSocketAddress grpcAddress(GrpcServer server) {
		String prefix = "rdma.rpc.grpc.server.";
		Integer configured = server.port();
		PropertyCheck.that(configured != null, prefix + "port", "", "from 0 to 65535");
		int port = PropertyCheck.range(prefix + "port", Objects.requireNonNull(configured), 0, 65535);
		PropertyCheck.range(prefix + "loops", server.loops(), 1, 1024);
		PropertyCheck.range(prefix + "max-connections", server.maxConnections(), 1, Integer.MAX_VALUE);
		Integer calls = server.maxConcurrentCalls();
		PropertyCheck.that(calls == null || calls >= 1, prefix + "max-concurrent-calls", String.valueOf(calls),
				"at least 1");
		return (server.address() != null) ? new InetSocketAddress(server.address(), port) : new InetSocketAddress(port);
	}

	/** What gRPC's builders do not say of connections. */
	static ChannelOptions grpcChannel(RdmaRpcProperties properties) {
		ChannelOptions defaults = ChannelOptions.DEFAULTS;
		return channel(properties, defaults.maxMessageBytes(), defaults.maxUnfinishedBytes(), defaults.maxCalls(),
				Duration.ofNanos(defaults.handshakeTimeoutNanos()), Duration.ofNanos(defaults.keepAliveNanos()),
				Duration.ofNanos(defaults.deadPeerNanos()));
	}

	static ChannelOptions channel(RdmaRpcProperties properties, int maxMessageBytes, long maxUnfinishedBytes,
			int maxCalls, Duration handshakeTimeout, Duration keepAlive, Duration deadPeerTimeout) {
		QueuePairs queuePairs = properties.queuePairs();
		String prefix = "rdma.rpc.queue-pairs.";
		int credits = PropertyCheck.range(prefix + "credits", queuePairs.credits(), ChannelOptions.MIN_CREDITS,
				ChannelOptions.MAX_CREDITS);
		int frameBytes = PropertyCheck.bytes(prefix + "frame-size", queuePairs.frameSize(),
				ChannelOptions.MIN_FRAME_BYTES, ChannelOptions.MAX_FRAME_BYTES, 8);
		return new ChannelOptions(frameBytes,
				PropertyCheck.range(prefix + "min-credits", queuePairs.minCredits(), ChannelOptions.MIN_CREDITS,
						credits),
				credits, maxMessageBytes, maxUnfinishedBytes, maxCalls, handshakeTimeout.toNanos(), keepAlive.toNanos(),
				deadPeerTimeout.toNanos(),
				PropertyCheck.bytes("rdma.rpc.eager-limit", properties.eagerLimit(), 0, MAX_MESSAGE_BYTES, 1),
				PropertyCheck.bytes("rdma.rpc.max-metadata-size", properties.maxMetadataSize(), 0,
						ChannelOptions.mostMetadataBytes(frameBytes), 1),
				PropertyCheck.bytes("rdma.rpc.stream-window", properties.streamWindow(),
						ChannelOptions.MIN_STREAM_WINDOW_BYTES, ChannelOptions.MAX_STREAM_WINDOW_BYTES, 1));
	}

	static int messageBytes(String name, DataSize value) {
		return PropertyCheck.bytes(name, value, LEAST_MESSAGE_BYTES, MAX_MESSAGE_BYTES, 1);
	}

	private static long unfinishedBytes(String name, DataSize value) {
		PropertyCheck.that(value.toBytes() >= 1, name, value, "at least 1B");
		return value.toBytes();
	}

	/** Complains of keep-alive if the timeout is what it is by default. */
	static Duration deadPeer(String name, Duration value, String keepAliveName, Duration keepAlive) {
		PropertyCheck.positive(name, value);
		boolean valid = value.compareTo(keepAlive) > 0;
		if (value.toNanos() == ChannelOptions.DEFAULTS.deadPeerNanos()) {
			PropertyCheck.that(valid, keepAliveName, keepAlive, "less than dead-peer-timeout, which is " + value);
		}
		PropertyCheck.that(valid, name, value, "more than keep-alive, which is " + keepAlive);
		return value;
	}

}
