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

package dev.rdmarpc.verbs.shm;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;

import dev.rdmarpc.TestEnvironment;
import dev.rdmarpc.verbs.AccessFlag;
import dev.rdmarpc.verbs.CompletionQueue;
import dev.rdmarpc.verbs.ConnectOptions;
import dev.rdmarpc.verbs.ConnectionInfo;
import dev.rdmarpc.verbs.ConnectionListener;
import dev.rdmarpc.verbs.ConnectionRequest;
import dev.rdmarpc.verbs.ListenOptions;
import dev.rdmarpc.verbs.MemoryRegion;
import dev.rdmarpc.verbs.ProtectionDomain;
import dev.rdmarpc.verbs.QueuePair;
import dev.rdmarpc.verbs.QueuePairListener;
import dev.rdmarpc.verbs.QueuePairOptions;
import dev.rdmarpc.verbs.QueuePairState;
import dev.rdmarpc.verbs.VerbsDevice;
import dev.rdmarpc.verbs.WorkCompletion;
import dev.rdmarpc.verbs.WorkOpcode;
import dev.rdmarpc.verbs.WorkRequest;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A device on a directory, a listener that accepts whoever comes, and one completion
 * queue for all queue pairs. What is received is posted again at once. Used by one
 * thread.
 */
final class Station implements AutoCloseable {

	static final Duration DEADLINE = TestEnvironment.scaled(Duration.ofSeconds(30));

	/**
	 * Why memory is not cut on Java 17: it was seen to throw the fault in the middle of
	 * what the thread did next, which may be the code that runs the tests.
	 */
	static final String LATE = "older virtual machines report a fault too late to contain it";

	static final int RING_BYTES = 256 * 1024;

	private static final int MESSAGE_BYTES = 64;

	private static final int DEPTH = 4;

	final VerbsDevice device;

	final ConnectionListener listener;

	final List<QueuePair> accepted = new ArrayList<>();

	final CompletionQueue completionQueue;

	private final ProtectionDomain domain;

	private final MemoryRegion memory;

	private final Path directory;

	private final LinkedBlockingQueue<ConnectionRequest> requests = new LinkedBlockingQueue<>();

	private final WorkRequest request = new WorkRequest(1);

	private final WorkCompletion[] completion = { new WorkCompletion() };

	int received;

	Station(Path directory) {
		this(directory, SharedMemoryOptions.DEFAULTS.withDirectory(directory).withRingBytes(RING_BYTES));
	}

	Station(Path directory, SharedMemoryOptions options) {
		this.directory = directory;
		this.device = new SharedMemoryProvider(options).openDevice(null);
		this.domain = this.device.allocateProtectionDomain();
		this.completionQueue = this.device.createCompletionQueue(1 << 16);
		this.memory = this.domain.registerMemory(ByteBuffer.allocateDirect(2 * MESSAGE_BYTES),
				EnumSet.allOf(AccessFlag.class));
		this.listener = this.device.listen(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
				new ListenOptions(128, 256, 4096, DEADLINE.toNanos()), this.requests::add);
	}

	static InetSocketAddress loopback(int port) {
		return new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
	}

	InetSocketAddress address() {
		return this.listener.localAddress();
	}

	Path socket() {
		return this.directory.resolve(address().getPort() + ".socket");
	}

	QueuePair newQueuePair() {
		QueuePair queuePair = this.domain.createQueuePair(
				new QueuePairOptions(this.completionQueue, null, DEPTH, DEPTH, 1, 1, QueuePairListener.NONE));
		for (int i = 0; i < DEPTH; i++) {
			postReceive(queuePair);
		}
		return queuePair;
	}

	private void postReceive(QueuePair queuePair) {
		queuePair.postReceive(this.request.receive(0).addSegment(this.memory, 0, MESSAGE_BYTES));
	}

	/** Waits for a request and accepts it. */
	CompletableFuture<ConnectionInfo> accept() throws InterruptedException {
		ConnectionRequest asked = this.requests.poll(DEADLINE.toSeconds(), TimeUnit.SECONDS);
		assertThat(asked).as("a connection request").isNotNull();
		QueuePair queuePair = newQueuePair();
		this.accepted.add(queuePair);
		return asked.accept(queuePair, ConnectOptions.DEFAULTS);
	}

	/** Waits for a request and accepts it, whose connection is then established. */
	QueuePair acceptEstablished() throws Exception {
		return acceptEstablished(DEADLINE);
	}

	private QueuePair acceptEstablished(Duration patience) throws Exception {
		accept().get(patience.toMillis(), TimeUnit.MILLISECONDS);
		return this.accepted.get(this.accepted.size() - 1);
	}

	CompletableFuture<ConnectionInfo> connect(QueuePair queuePair, InetSocketAddress remote) {
		return this.device.connect(queuePair, remote, ConnectOptions.DEFAULTS.withTimeout(DEADLINE));
	}

	/** Connects to another station. */
	QueuePair connect(Station other) throws Exception {
		return connect(other, DEADLINE);
	}

	/** Connects to another station, in time or not at all. */
	QueuePair connect(Station other, Duration patience) throws Exception {
		QueuePair queuePair = newQueuePair();
		CompletableFuture<ConnectionInfo> connecting = connect(queuePair, other.address());
		other.acceptEstablished(patience);
		connecting.get(patience.toMillis(), TimeUnit.MILLISECONDS);
		return queuePair;
	}

	void send(QueuePair queuePair) {
		queuePair.postSend(this.request.send(1).addSegment(this.memory, MESSAGE_BYTES, MESSAGE_BYTES));
		queuePair.ringDoorbell();
	}

	/** Polls once. */
	void poll() {
		if (this.completionQueue.poll(this.completion) > 0 && this.completion[0].isSuccess()
				&& this.completion[0].opcode() == WorkOpcode.RECEIVE) {
			this.received++;
			postReceive(this.completion[0].queuePair());
		}
	}

	/** Polls until a condition holds, and fails at the deadline. */
	static void pollUntil(String what, BooleanSupplier condition, Station... stations) {
		long deadline = System.nanoTime() + DEADLINE.toNanos();
		while (!condition.getAsBoolean()) {
			for (Station station : stations) {
				station.poll();
			}
			assertThat(System.nanoTime() - deadline).as("waiting for %s", what).isNegative();
			Thread.onSpinWait();
		}
	}

	/**
	 * Polls until a queue pair whose memory is gone is in error. The virtual machine may
	 * say so anywhere, and goes on.
	 */
	static void awaitFault(QueuePair queuePair, Station station, Runnable work) {
		long deadline = System.nanoTime() + DEADLINE.toNanos();
		while (queuePair.state() != QueuePairState.ERROR) {
			try {
				work.run();
				station.poll();
				assertThat(System.nanoTime() - deadline).as("waiting for the error").isNegative();
			}
			catch (InternalError ex) {
				assertThat(ex).hasMessageContaining("fault");
			}
		}
	}

	static void awaitError(QueuePair queuePair, Station... stations) {
		pollUntil("the error", () -> queuePair.state() == QueuePairState.ERROR, stations);
	}

	/** Sends a message each way. */
	static void greet(Station from, QueuePair there, Station to, QueuePair back) {
		int before = to.received;
		from.send(there);
		pollUntil("the message", () -> to.received > before || hasEnded(there, back), from, to);
		int answered = from.received;
		to.send(back);
		pollUntil("the answer", () -> from.received > answered || hasEnded(there, back), from, to);
		if (hasEnded(there, back)) {
			throw new IllegalStateException("connection has ended: " + there.fault() + ", " + back.fault());
		}
	}

	private static boolean hasEnded(QueuePair there, QueuePair back) {
		return there.state() == QueuePairState.ERROR || back.state() == QueuePairState.ERROR;
	}

	/** A directory for this user's processes to meet in. */
	static Path newDirectory() throws IOException {
		return Files.createTempDirectory("rdma",
				PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
	}

	/** What lies in a directory besides its lock. */
	static List<String> files(Path directory) throws IOException {
		try (Stream<Path> files = Files.list(directory)) {
			return files.map((file) -> file.getFileName().toString()).filter((name) -> !name.startsWith(".")).toList();
		}
	}

	@Override
	public void close() {
		this.device.close();
	}

}
