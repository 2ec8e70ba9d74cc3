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

package dev.rdmarpc.benchmarks.compare.rdma;

import java.io.Closeable;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.Arrays;
import java.util.function.BiConsumer;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.benchmarks.compare.BlockingLoop;
import dev.rdmarpc.benchmarks.compare.CallbackLoop;
import dev.rdmarpc.benchmarks.compare.Exchange;
import dev.rdmarpc.benchmarks.compare.LatencyRecorder;
import dev.rdmarpc.benchmarks.compare.Mode;
import dev.rdmarpc.benchmarks.compare.Peer;
import dev.rdmarpc.benchmarks.compare.PeerClient;
import dev.rdmarpc.benchmarks.compare.PeerServer;
import dev.rdmarpc.benchmarks.compare.Workload;
import dev.rdmarpc.memory.MemoryOptions;
import dev.rdmarpc.memory.RegisteredMemory;
import dev.rdmarpc.rpc.RpcClient;
import dev.rdmarpc.rpc.RpcServer;
import dev.rdmarpc.rpc.RpcServerOptions;
import dev.rdmarpc.transport.RdmaTransport;
import dev.rdmarpc.transport.TransportOptions;

/**
 * This framework with its default options, except for a memory budget that holds the
 * largest workload: blocking proxies for {@link Mode#SYNC}, futures else.
 */
public final class RdmaPeer implements Peer {

	private static final MemoryOptions MEMORY = MemoryOptions.builder().maxBytes(768L << 20).build();

	private static final String INLINE_SERVICE = "inline-payloads";

	private static final String QUEUED_SERVICE = "payloads";

	private final boolean inline;

	/**
	 * Creates the peer.
	 * @param inline whether handlers run on the loop instead of the server's executor
	 */
	public RdmaPeer(boolean inline) {
		this.inline = inline;
	}

	@Override
	public String name() {
		return this.inline ? "rdma" : "rdma-executor";
	}

	private String service() {
		return this.inline ? INLINE_SERVICE : QUEUED_SERVICE;
	}

	@Override
	public PeerServer startServer() {
		Resources resources = Resources.open();
		RpcServer server = RpcServer.builder()
			.transport(resources.transport())
			.options(RpcServerOptions.DEFAULTS.withLoopback(0))
			.service(INLINE_SERVICE, InlinePayloads.class, new Handler())
			.service(QUEUED_SERVICE, Payloads.class, new Handler())
			.build()
			.start();
		return new RunningServer(server, resources);
	}

	@Override
	public PeerClient connect(InetSocketAddress server, Workload workload) {
		byte[] payload = new byte[workload.payloadBytes()];
		Arrays.fill(payload, (byte) 'x');
		Resources resources = Resources.open();
		if (workload.mode() == Mode.SYNC) {
			RpcClient client = open(server, resources);
			return new OwningClient(callBlocking(client, workload, payload), resources);
		}
		CallbackLoop loop = new CallbackLoop();
		for (int i = 0; i < workload.connections(); i++) {
			RpcClient client = open(server, resources);
			AsyncPayloads payloads = client.proxy(service(), AsyncPayloads.class);
			loop.add((slot) -> start(payloads, workload, payload, slot), workload.outstanding(), client::close);
		}
		return new OwningClient(loop, resources);
	}

	private static RpcClient open(InetSocketAddress server, Resources resources) {
		return RpcClient.builder()
			.transport(resources.transport())
			.target(server.getHostString(), server.getPort())
			.build();
	}

	private BlockingLoop callBlocking(RpcClient client, Workload workload, byte[] payload) {
		Payloads payloads = client.proxy(service(), Payloads.class);
		BlockingLoop.BlockingCall call = (workload.exchange() == Exchange.ECHO)
				? () -> check(payload.length, payloads.echo(payload).length)
				: () -> check(payload.length, payloads.upload(payload));
		return new BlockingLoop(call, client::close);
	}

	private static Runnable start(AsyncPayloads payloads, Workload workload, byte[] payload, CallbackLoop.Slot slot) {
		if (workload.exchange() == Exchange.ECHO) {
			BiConsumer<byte @Nullable [], @Nullable Throwable> end = (reply, failure) -> end(slot, payload.length,
					(reply != null) ? reply.length : -1, failure);
			return () -> payloads.echo(payload).whenComplete(end);
		}
		BiConsumer<@Nullable Long, @Nullable Throwable> end = (reply, failure) -> end(slot, payload.length,
				(reply != null) ? reply : -1, failure);
		return () -> payloads.upload(payload).whenComplete(end);
	}

	private static void end(CallbackLoop.Slot slot, long sent, long answered, @Nullable Throwable failure) {
		if (failure != null) {
			slot.fail(failure);
		}
		else if (answered != sent) {
			slot.fail(new IllegalStateException("answer of or about " + answered + " bytes to " + sent));
		}
		else {
			slot.succeed();
		}
	}

	private static void check(long sent, long answered) {
		if (answered != sent) {
			throw new IllegalStateException("answer of or about " + answered + " bytes to " + sent);
		}
	}

	/** Handles the calls. */
	private static final class Handler implements InlinePayloads {

		@Override
		public byte[] echo(byte[] payload) {
			return payload;
		}

		@Override
		public long upload(byte[] payload) {
			return payload.length;
		}

	}

	/** What clients and servers of a process share. */
	private record Resources(RdmaTransport transport, RegisteredMemory memory) implements Closeable {

		static Resources open() {
			RegisteredMemory memory = RegisteredMemory.create(MEMORY);
			return new Resources(RdmaTransport.open(TransportOptions.DEFAULTS, memory), memory);
		}

		@Override
		public void close() {
			this.transport.close();
			this.memory.close();
		}

	}

	private record RunningServer(RpcServer server, Resources resources) implements PeerServer {

		@Override
		public int port() {
			return this.server.port();
		}

		@Override
		public void close() {
			this.server.close();
			this.resources.close();
		}

	}

	private record OwningClient(PeerClient client, Resources resources) implements PeerClient {

		@Override
		public long run(long durationNanos, LatencyRecorder latencies) throws Exception {
			return this.client.run(durationNanos, latencies);
		}

		@Override
		public void close() throws IOException {
			try (this.resources) {
				this.client.close();
			}
		}

	}

}
