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

package dev.rdmarpc.benchmarks.jmh;

import java.io.PrintWriter;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

import dev.rdmarpc.codec.MessageSegments;
import dev.rdmarpc.memory.MemoryOptions;
import dev.rdmarpc.memory.RegisteredMemory;
import dev.rdmarpc.transport.CallFailure;
import dev.rdmarpc.transport.ChannelHandler;
import dev.rdmarpc.transport.ChannelListener;
import dev.rdmarpc.transport.ChannelLoop;
import dev.rdmarpc.transport.ChannelOptions;
import dev.rdmarpc.transport.IncomingMessage;
import dev.rdmarpc.transport.LoopMetrics;
import dev.rdmarpc.transport.PendingCall;
import dev.rdmarpc.transport.RdmaTransport;
import dev.rdmarpc.transport.RequestTemplate;
import dev.rdmarpc.transport.RpcChannel;
import dev.rdmarpc.transport.TransportOptions;

/**
 * Ten busy connections among many that are idle, with receives that follow the load and
 * with fixed ones. One operation is a call without content; what the server held for
 * receives is printed at the end.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.MILLISECONDS)
public class CreditsBenchmark {

	private static final int BUSY = 10;

	private static final int MOST = 64;

	private static final int OUTSTANDING = 60;

	private static final int CALLS_EACH = 2000;

	private static final RequestTemplate TEMPLATE = new RequestTemplate(1, 1, 0);

	/** How receives are lent. */
	public enum Credits {

		/** 8 to 64 for each connection. */
		ELASTIC(8),

		/** 64 for each connection, which is all that a queue of 65536 holds. */
		FIXED(MOST);

		private final int least;

		Credits(int least) {
			this.least = least;
		}

	}

	/** How receives are lent. */
	@Param
	public Credits credits = Credits.ELASTIC;

	/** All connections, busy and idle. */
	@Param("1000")
	public int connections;

	private final AtomicInteger opened = new AtomicInteger();

	private final AtomicInteger left = new AtomicInteger();

	private final List<RpcChannel> channels = new ArrayList<>();

	private @Nullable Side server;

	private @Nullable Side client;

	/** Connects. */
	@Setup
	public void connect() {
		Side serverSide = new Side("server");
		Side clientSide = new Side("client");
		this.server = serverSide;
		this.client = clientSide;
		ChannelOptions options = ChannelOptions.DEFAULTS.withCredits(this.credits.least, MOST);
		ChannelListener listener = serverSide.transport.listen(
				new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), List.of(serverSide.loop), this.connections,
				options, Replying::new);
		while (this.channels.size() < this.connections) {
			for (int i = 0; i < 100 && this.channels.size() < this.connections; i++) {
				RpcChannel channel = clientSide.transport.newChannel(clientSide.loop, options, new Counting());
				this.channels.add(channel);
				clientSide.transport.connect(channel, listener.localAddress());
			}
			await(() -> this.opened.get() == this.channels.size());
		}
	}

	/** Calls on ten connections, 60 outstanding on each. */
	@Benchmark
	@OperationsPerInvocation(BUSY * CALLS_EACH)
	public int calls() {
		this.left.set(BUSY * CALLS_EACH);
		for (RpcChannel channel : this.channels.subList(0, BUSY)) {
			AtomicInteger toStart = new AtomicInteger(CALLS_EACH);
			for (int i = 0; i < OUTSTANDING; i++) {
				new Call(channel, toStart).start();
			}
		}
		await(() -> this.left.get() == 0);
		return this.left.get();
	}

	/** Tells what was held for receives, and gives it back. */
	@TearDown
	public void close() {
		Side serverSide = this.server;
		Side clientSide = this.client;
		if (serverSide == null || clientSide == null) {
			return;
		}
		LoopMetrics metrics = serverSide.loop.metrics();
		PrintWriter out = new PrintWriter(System.out, true, StandardCharsets.UTF_8);
		out.println(String.format(Locale.ROOT,
				"%n%s, %d connections: %.1f MiB for %d receives posted; per 1000 frames received %.1f calls that post "
						+ "receives and %.2f frames of credits alone",
				this.credits, this.connections, metrics.receiveMemoryBytes() / 1048576.0, metrics.receivesPosted(),
				1000.0 * metrics.receivePosts() / metrics.framesReceived(),
				1000.0 * metrics.creditFrames() / metrics.framesReceived()));
		clientSide.close();
		serverSide.close();
	}

	private static void await(BooleanSupplier condition) {
		long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
		while (!condition.getAsBoolean()) {
			if (System.nanoTime() - deadline > 0) {
				throw new IllegalStateException("not done within a minute");
			}
			LockSupport.parkNanos(20_000);
		}
	}

	/** Memory, transport and loop of one end. */
	private static final class Side {

		private final RegisteredMemory memory = RegisteredMemory
			.create(MemoryOptions.DEFAULTS.withMaxBytes(2L << 30).withInitialBytes(0));

		private final RdmaTransport transport = RdmaTransport.open(TransportOptions.DEFAULTS, this.memory);

		private final ChannelLoop loop;

		Side(String name) {
			this.loop = this.transport.startLoop(name, ChannelOptions.DEFAULTS.frameBytes());
		}

		void close() {
			this.transport.close();
			this.memory.close();
		}

	}

	/** Calls on one connection, one after the other. */
	private final class Call implements PendingCall {

		private final RpcChannel channel;

		private final AtomicInteger toStart;

		private int requestId;

		private boolean waiting;

		Call(RpcChannel channel, AtomicInteger toStart) {
			this.channel = channel;
			this.toStart = toStart;
		}

		void start() {
			if (this.toStart.getAndDecrement() > 0) {
				this.waiting = true;
				this.channel
					.prepareRequest(this, TEMPLATE, Long.MAX_VALUE, 0, RequestTemplate.NO_METADATA,
							new MessageSegments())
					.submit();
			}
		}

		@Override
		public void onStarted(int id) {
			this.requestId = id;
		}

		@Override
		public int requestId() {
			return this.requestId;
		}

		@Override
		public void onReply(IncomingMessage reply) {
			this.waiting = false;
			CreditsBenchmark.this.left.decrementAndGet();
			start();
		}

		@Override
		public void onFailure(CallFailure why, String detail) {
			throw new IllegalStateException(why + ": " + detail);
		}

		@Override
		public boolean isDone() {
			return !this.waiting;
		}

	}

	/** What both ends have in common. */
	private static class Quiet implements ChannelHandler {

		@Override
		public void onOpen(RpcChannel channel) {
			// nothing to do
		}

		@Override
		public void onRequest(RpcChannel channel, IncomingMessage request) {
			// clients get none
		}

		@Override
		public void onUnreadableRequest(RpcChannel channel, int requestId, String detail) {
			throw new IllegalStateException(detail);
		}

		@Override
		public void onCancel(RpcChannel channel, int requestId) {
			// nobody cancels
		}

		@Override
		public void onGoodbye(RpcChannel channel) {
			// the end is abrupt
		}

		@Override
		public void onClosed(RpcChannel channel, String reason) {
			// seen by who waits in vain
		}

	}

	/** Answers at once. */
	private static final class Replying extends Quiet {

		private final MessageSegments nothing = new MessageSegments();

		@Override
		public void onRequest(RpcChannel channel, IncomingMessage request) {
			channel.prepareReply(request.requestId(), 0, RequestTemplate.NO_METADATA, this.nothing).submit();
		}

	}

	/** Counts what opens. */
	private final class Counting extends Quiet {

		@Override
		public void onOpen(RpcChannel channel) {
			CreditsBenchmark.this.opened.incrementAndGet();
		}

	}

}
