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

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.TestEnvironment;
import dev.rdmarpc.flatbuffers.FlatBuffersCodec;
import dev.rdmarpc.memory.MemoryOptions;
import dev.rdmarpc.memory.RegisteredMemory;
import dev.rdmarpc.transport.Frames;
import dev.rdmarpc.transport.RdmaTransport;
import dev.rdmarpc.transport.TransportOptions;

/**
 * Hostile peers, each kind with a thread that strikes again and again with a pause. What
 * they hold at once is bounded. They have a process of their own, which takes only what
 * others leave of the processors, as if they were on other machines. On the lines
 * {@code siege} and {@code rest} of its standard input it begins and pauses, and says
 * what it has done so far; on {@code end} it ends.
 */
public final class Besiegers implements AutoCloseable {

	static final String READY = "hostile peers are ready";

	static final String DONE = "done ";

	private static final ServiceDescriptor TOWN = ServiceDescriptor.of(BesiegedServer.Town.class.getName(),
			BesiegedServer.Town.class, new FlatBuffersCodec());

	private static final int LARGE = 16 << 20;

	private final int port;

	private final RpcClient caller;

	private final List<Thread> threads = new ArrayList<>();

	private final AtomicLong strikes = new AtomicLong();

	private final AtomicLong refusals = new AtomicLong();

	private volatile boolean active;

	private volatile boolean over;

	private volatile @Nullable Throwable failure;

	public static void main(String[] arguments) throws IOException {
		int port = Integer.parseInt(arguments[0]);
		try (RegisteredMemory memory = RegisteredMemory.create(MemoryOptions.DEFAULTS);
				RdmaTransport transport = RdmaTransport
					.open(TransportOptions.DEFAULTS.withProvider(TestEnvironment.provider("iwarp"), ""), memory);
				RpcClient caller = RpcClient.builder()
					.transport(transport)
					.target(TestEnvironment.host(), port)
					.build();
				Besiegers besiegers = new Besiegers(port, caller, Long.parseLong(arguments[1]))) {
			System.out.println(READY);
			BufferedReader commands = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
			for (String line = commands.readLine(); line != null && !line.equals("end"); line = commands.readLine()) {
				besiegers.active = line.equals("siege");
				System.out.println(DONE + besiegers.done());
			}
		}
	}

	private Besiegers(int port, RpcClient caller, long seed) {
		this.port = port;
		this.caller = caller;
		besiege("connects and says nothing", 100, 40, this::silent, seed);
		besiege("sends half a request to connect", 150, 20, this::halfRequest, seed + 1);
		besiege("connects, and no HELLO", 150, 20, this::noHello, seed + 2);
		besiege("says HELLO and nothing more", 100, 20, this::hello, seed + 3);
		besiege("sends part of a frame", 100, 20, this::partialFrame, seed + 4);
		besiege("begins messages", 200, 6, this::begunMessages, seed + 5);
		besiege("sends mutated messages", 20, 2, this::mutated, seed + 6);
		besiege("sends wrong CRCs", 50, 2, this::wrongCrc, seed + 7);
		besiege("floods with PINGs and cancels", 100, 2, this::flood, seed + 8);
		besiege("asks and does not read", 200, 5, this::slowReader, seed + 9);
		besiege("dies in the middle of a message", 30, 1, this::killed, seed + 10);
		besiege("has handlers fail", 20, 1, this::oddFailures, seed + 11);
		besiege("gives calls up", 20, 1, this::givenUp, seed + 12);
	}

	private static long id(String method) {
		return TOWN.methods()
			.stream()
			.filter((candidate) -> candidate.name().equals(method))
			.findFirst()
			.orElseThrow()
			.id();
	}

	private void besiege(String what, long pauseMillis, int mostHeld, Strike strike, long seed) {
		Thread thread = new Thread(() -> {
			Random random = new Random(seed);
			Deque<AutoCloseable> held = new ArrayDeque<>();
			while (!this.over) {
				if (this.active) {
					attempt(strike, random, held);
				}
				release(held, this.active ? mostHeld : 0);
				LockSupport.parkNanos(Duration.ofMillis(pauseMillis / 2 + random.nextInt((int) pauseMillis)).toNanos());
			}
			release(held, 0);
		}, "peer-that-" + what.replace(' ', '-'));
		thread.setDaemon(true);
		this.threads.add(thread);
		thread.start();
	}

	private void attempt(Strike strike, Random random, Deque<AutoCloseable> held) {
		try {
			this.strikes.incrementAndGet();
			strike.strike(random, held);
		}
		catch (IOException ex) {
			this.refusals.incrementAndGet();
		}
		catch (Throwable ex) {
			this.failure = ex;
		}
	}

	private void release(Deque<AutoCloseable> held, int left) {
		while (held.size() > left) {
			try {
				held.poll().close();
			}
			catch (Exception ex) {
				this.failure = ex;
			}
		}
	}

	/** Strikes, how many of them were refused, and what went wrong here, if anything. */
	private String done() {
		Throwable wrong = this.failure;
		return this.strikes + " " + this.refusals + " " + ((wrong != null) ? wrong : "");
	}

	@Override
	public void close() {
		this.over = true;
		this.threads.forEach(LockSupport::unpark);
		try {
			for (Thread thread : this.threads) {
				thread.join(TimeUnit.SECONDS.toMillis(30));
			}
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	private HostileSocket connect(Deque<AutoCloseable> held) throws IOException {
		HostileSocket socket = new HostileSocket(this.port);
		held.add(socket);
		return socket;
	}

	private void silent(Random random, Deque<AutoCloseable> held) throws IOException {
		connect(held);
	}

	private void halfRequest(Random random, Deque<AutoCloseable> held) throws IOException {
		connect(held).write(Arrays.copyOf(HostileSocket.mpaRequest(false), 1 + random.nextInt(19)));
	}

	private void noHello(Random random, Deque<AutoCloseable> held) throws IOException {
		connect(held).connected(false);
	}

	private void hello(Random random, Deque<AutoCloseable> held) throws IOException {
		connect(held).open();
	}

	private void partialFrame(Random random, Deque<AutoCloseable> held) throws IOException {
		HostileSocket socket = connect(held).open();
		byte[] frame = socket.framed(Frames.request(0, 0, id("greet"), 1, 600, new byte[600]));
		socket.write(Arrays.copyOf(frame, 1 + random.nextInt(frame.length - 1)));
	}

	private void begunMessages(Random random, Deque<AutoCloseable> held) throws IOException {
		HostileSocket socket = connect(held).open();
		int bytes = random.nextBoolean() ? LARGE : 3000;
		for (int call = 0; call < 4; call++) {
			socket.write(socket.framed(Frames.request(0, call, id("echo"), 1, bytes, new byte[1000])));
		}
	}

	private void mutated(Random random, Deque<AutoCloseable> held) throws IOException {
		HostileSocket socket = connect(held).open();
		for (int call = 0; call < 4; call++) {
			byte[] part = new byte[random.nextInt(64)];
			random.nextBytes(part);
			socket.write(socket.mutated(Frames.request(0, call, id("echo"), 1, part.length, part), random));
		}
	}

	private void wrongCrc(Random random, Deque<AutoCloseable> held) throws IOException {
		HostileSocket socket = connect(held).connected(true);
		byte[] frame = socket.framed(Frames.hello(1, 32));
		frame[frame.length - 1] = (byte) random.nextInt();
		socket.write(frame);
	}

	private void flood(Random random, Deque<AutoCloseable> held) throws IOException {
		HostileSocket socket = connect(held).open();
		for (int i = 0; i < 8 + random.nextInt(200); i++) {
			boolean ping = random.nextBoolean();
			socket.write(socket.framed(Frames.control(ping ? 8 : 6, 0, random.nextInt(64))));
		}
	}

	private void slowReader(Random random, Deque<AutoCloseable> held) throws IOException {
		HostileSocket socket = connect(held).open();
		for (int call = 0; call < 6; call++) {
			socket.write(socket.framed(Frames.request(0, call, id("give"), 0, 0, new byte[0])));
		}
	}

	private void killed(Random random, Deque<AutoCloseable> held) throws IOException {
		HostileSocket socket = connect(held).open();
		byte[] frame = socket.framed(Frames.request(0, 0, id("echo"), 1, 5000, new byte[5000]));
		socket.write(Arrays.copyOf(frame, 1 + random.nextInt(frame.length - 1)));
		socket.reset();
	}

	private void oddFailures(Random random, Deque<AutoCloseable> held) {
		BesiegedServer.Town town = CallOptions.deadline(Duration.ofSeconds(5))
			.on(this.caller.proxy(BesiegedServer.Town.class));
		try {
			town.fail(random.nextInt(8));
		}
		catch (RpcException ex) {
			this.refusals.incrementAndGet();
		}
	}

	private void givenUp(Random random, Deque<AutoCloseable> held) {
		BesiegedServer.Town town = this.caller.proxy(BesiegedServer.Town.class);
		CompletableFuture<String> never = town.never();
		if (random.nextBoolean()) {
			never.cancel(true);
		}
		else {
			never.completeOnTimeout("enough", random.nextInt(20), TimeUnit.MILLISECONDS);
		}
	}

	/** One attack. */
	private interface Strike {

		void strike(Random random, Deque<AutoCloseable> held) throws IOException;

	}

}
