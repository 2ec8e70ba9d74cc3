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

package dev.rdmarpc.benchmarks.workloads.priorities;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

import org.HdrHistogram.Histogram;

import dev.rdmarpc.memory.MemoryOptions;
import dev.rdmarpc.memory.RegisteredBuffer;
import dev.rdmarpc.memory.RegisteredMemory;
import dev.rdmarpc.rpc.CallOptions;
import dev.rdmarpc.rpc.Priority;
import dev.rdmarpc.rpc.RpcClient;
import dev.rdmarpc.rpc.RpcClientOptions;
import dev.rdmarpc.rpc.RpcServer;
import dev.rdmarpc.rpc.RpcServerOptions;
import dev.rdmarpc.transport.ChannelOptions;
import dev.rdmarpc.transport.RdmaTransport;
import dev.rdmarpc.transport.SchedulerOptions;
import dev.rdmarpc.transport.TransportOptions;

/**
 * The main class of a forked process, a server or a client. Each has a transport with a
 * scheduler and one without, so that both are run by the same compiled code; the client
 * has a queue pair on each. It is told what to do by lines on its standard input and
 * answers each with one on its standard output:
 *
 * <pre>
 * TRANSPORT CALLS UPLOADS THREADS BYTES MILLIS   ok CALLS NANOS UPLOADED_BYTES NANOS HISTOGRAM
 * </pre>
 *
 * TRANSPORT is {@value #ON} or {@value #OFF}, for the scheduler. CALLS and UPLOADS are
 * priorities, or {@code -} if there are none; calls on a queue pair of their own have
 * {@value #APART} behind theirs, and those of a given rate {@value #RATE} and the number
 * per second. One thread makes calls of 64 bytes, one after the other, and each of
 * THREADS uploads BYTES again and again, until the calls are over and the last upload is.
 * The histogram is HdrHistogram's, in nanoseconds, compressed and in Base64.
 */
public final class TransferProcess {

	/** Behind the priority of calls on another queue pair than that of the uploads. */
	public static final String APART = "/apart";

	/** Between the priority of calls and how many are made per second. */
	public static final String RATE = "@";

	/** The transport with a scheduler. */
	public static final String ON = "on";

	/** The transport without one. */
	public static final String OFF = "off";

	private static final int SMALL_BYTES = 64;

	private static final long LONGEST_NANOS = TimeUnit.MINUTES.toNanos(1);

	private static final MemoryOptions MEMORY = MemoryOptions.DEFAULTS.withMaxBytes(1024L << 20);

	private static final ChannelOptions CHANNEL = ChannelOptions.DEFAULTS
		.withLimits(65 << 20, ChannelOptions.DEFAULTS.maxCalls())
		.withUnfinished(256 << 20);

	/** Always the largest window and slices: transfers make way for nothing. */
	private static final SchedulerOptions UNSCHEDULED = new SchedulerOptions(256 << 10, 256 << 10, 4 << 20, 4 << 20);

	private static final String SERVICE = "transfer";

	private TransferProcess() {
	}

	/** Takes the role, the provider, and for a client the ports that the server told. */
	public static void main(String[] arguments) throws Exception {
		PrintStream answers = System.out;
		System.setOut(System.err);
		BufferedReader commands = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
		TransportOptions options = TransportOptions.DEFAULTS.withProvider(arguments[1], "");
		try (RegisteredMemory memory = RegisteredMemory.create(MEMORY);
				RdmaTransport on = RdmaTransport.open(options, memory);
				RegisteredMemory othersMemory = RegisteredMemory.create(MEMORY);
				RdmaTransport off = RdmaTransport.open(options.withScheduler(UNSCHEDULED), othersMemory)) {
			if (arguments[0].equals("server")) {
				serve(on, off, commands, answers);
			}
			else {
				try (Caller scheduled = new Caller(on, memory, Integer.parseInt(arguments[2]));
						Caller unscheduled = new Caller(off, othersMemory, Integer.parseInt(arguments[3]))) {
					call(Map.of(ON, scheduled, OFF, unscheduled), commands, answers);
				}
			}
		}
		System.exit(0);
	}

	private static void serve(RdmaTransport on, RdmaTransport off, BufferedReader commands, PrintStream answers)
			throws Exception {
		try (RpcServer scheduled = server(on); RpcServer unscheduled = server(off)) {
			answers.println("ok " + scheduled.port() + " " + unscheduled.port());
			while (commands.readLine() != null) {
				answers.println("error: a server is told nothing");
			}
		}
	}

	private static RpcServer server(RdmaTransport transport) {
		return RpcServer.builder()
			.transport(transport)
			.options(RpcServerOptions.DEFAULTS.withLoopback(0).withChannel(CHANNEL))
			.service(SERVICE, Transfer.class, new Taker())
			.build()
			.start();
	}

	private static void call(Map<String, Caller> callers, BufferedReader commands, PrintStream answers)
			throws Exception {
		answers.println("ok");
		for (String command = commands.readLine(); command != null; command = commands.readLine()) {
			String reply;
			try {
				String[] words = command.split(" ", 2);
				reply = "ok " + Objects.requireNonNull(callers.get(words[0]), words[0]).run(words[1].split(" ", -1));
			}
			catch (Exception ex) {
				ex.printStackTrace();
				reply = "error " + String.valueOf(ex).replace('\n', ' ');
			}
			answers.println(reply);
		}
	}

	private static void upload(Transfer transfer, RegisteredBuffer value, AtomicBoolean over, AtomicLong uploaded) {
		int bytes = value.buffer().capacity();
		while (!over.get()) {
			int taken = transfer.put(value);
			if (taken != bytes) {
				throw new IllegalStateException(taken + " bytes (expected: " + bytes + ")");
			}
			uploaded.addAndGet(bytes);
		}
	}

	/** Calls until a time, once in any case, at least an interval after each other. */
	private static void echo(Transfer transfer, Histogram latencies, long end, long interval) {
		byte[] value = new byte[SMALL_BYTES];
		long before = System.nanoTime();
		long due = before;
		do {
			if (transfer.echo(value).length != SMALL_BYTES) {
				throw new IllegalStateException("another value came back");
			}
			long now = System.nanoTime();
			latencies.recordValue(Math.min(now - before, LONGEST_NANOS));
			due += interval;
			for (before = now; interval > 0 && due - before > 0; before = System.nanoTime()) {
				LockSupport.parkNanos(due - before);
			}
		}
		while (before - end < 0);
	}

	private static String encoded(Histogram latencies) {
		ByteBuffer target = ByteBuffer.allocate(latencies.getNeededByteBufferCapacity());
		int length = latencies.encodeIntoCompressedByteBuffer(target);
		return Base64.getEncoder().encodeToString(Arrays.copyOf(target.array(), length));
	}

	/** A client on one transport, and another of it for calls apart. */
	private static final class Caller implements AutoCloseable {

		private final RegisteredMemory memory;

		private final RpcClient client;

		private final RpcClient other;

		private final Transfer transfer;

		private final Transfer apart;

		Caller(RdmaTransport transport, RegisteredMemory memory, int port) {
			this.memory = memory;
			this.client = client(transport, port);
			this.other = client(transport, port);
			this.transfer = this.client.proxy(SERVICE, Transfer.class);
			this.apart = this.other.proxy(SERVICE, Transfer.class);
		}

		private static RpcClient client(RdmaTransport transport, int port) {
			return RpcClient.builder()
				.transport(transport)
				.target("127.0.0.1", port)
				.options(RpcClientOptions.DEFAULTS.withChannel(CHANNEL).withWaitForReady(true))
				.build();
		}

		String run(String[] words) throws Exception {
			int threads = words[1].equals("-") ? 0 : Integer.parseInt(words[2]);
			int bytes = Integer.parseInt(words[3]);
			long nanos = TimeUnit.MILLISECONDS.toNanos(Long.parseLong(words[4]));
			AtomicBoolean over = new AtomicBoolean();
			AtomicLong uploaded = new AtomicLong();
			ExecutorService executor = Executors.newFixedThreadPool(Math.max(1, threads));
			List<RegisteredBuffer> values = new ArrayList<>();
			try {
				List<Future<?>> uploads = new ArrayList<>();
				long begun = System.nanoTime();
				for (int i = 0; i < threads; i++) {
					Transfer low = with(words[1]);
					RegisteredBuffer value = this.memory.allocate(bytes);
					values.add(value);
					uploads.add(executor.submit(() -> upload(low, value, over, uploaded)));
				}
				Histogram latencies = new Histogram(LONGEST_NANOS, 3);
				if (words[0].equals("-")) {
					LockSupport.parkNanos(nanos);
				}
				else {
					String[] calls = words[0].split(RATE, -1);
					long interval = (calls.length > 1) ? TimeUnit.SECONDS.toNanos(1) / Long.parseLong(calls[1]) : 0;
					echo(with(calls[0]), latencies, begun + nanos, interval);
				}
				long took = System.nanoTime() - begun;
				over.set(true);
				for (Future<?> upload : uploads) {
					upload.get();
				}
				return latencies.getTotalCount() + " " + took + " " + uploaded.get() + " " + (System.nanoTime() - begun)
						+ " " + encoded(latencies);
			}
			finally {
				over.set(true);
				executor.shutdown();
				executor.awaitTermination(1, TimeUnit.MINUTES);
				values.forEach(RegisteredBuffer::release);
			}
		}

		private Transfer with(String words) {
			boolean own = words.endsWith(APART);
			String priority = own ? words.substring(0, words.length() - APART.length()) : words;
			return CallOptions.NONE.withPriority(Priority.valueOf(priority)).on(own ? this.apart : this.transfer);
		}

		@Override
		public void close() {
			this.other.close();
			this.client.close();
		}

	}

	/** Looks at the length of what it is given. */
	private static final class Taker implements Transfer {

		@Override
		public byte[] echo(byte[] value) {
			return value;
		}

		@Override
		public int put(RegisteredBuffer value) {
			return value.buffer().remaining();
		}

	}

}
