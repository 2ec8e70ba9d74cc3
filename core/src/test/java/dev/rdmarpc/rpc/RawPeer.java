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

import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.EnumSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.TestEnvironment;
import dev.rdmarpc.transport.Frames;
import dev.rdmarpc.transport.ProviderSelection;
import dev.rdmarpc.verbs.AccessFlag;
import dev.rdmarpc.verbs.CompletionQueue;
import dev.rdmarpc.verbs.ConnectOptions;
import dev.rdmarpc.verbs.ConnectionInfo;
import dev.rdmarpc.verbs.ConnectionListener;
import dev.rdmarpc.verbs.ConnectionRequest;
import dev.rdmarpc.verbs.ListenOptions;
import dev.rdmarpc.verbs.MemoryRegion;
import dev.rdmarpc.verbs.PostResult;
import dev.rdmarpc.verbs.ProtectionDomain;
import dev.rdmarpc.verbs.QueuePair;
import dev.rdmarpc.verbs.QueuePairOptions;
import dev.rdmarpc.verbs.QueuePairState;
import dev.rdmarpc.verbs.VerbsDevice;
import dev.rdmarpc.verbs.VerbsException;
import dev.rdmarpc.verbs.WorkCompletion;
import dev.rdmarpc.verbs.WorkOpcode;
import dev.rdmarpc.verbs.WorkRequest;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A peer that has nothing but a queue pair: it sends what the test wrote by hand, honest
 * or not, and shows what comes back. Used by one thread.
 */
final class RawPeer implements AutoCloseable {

	private static final int SLOTS = 256;

	private static final int SLOT_BYTES = 8192;

	private static final long DEADLINE_NANOS = TestEnvironment.scaled(Duration.ofSeconds(20)).toNanos();

	private final VerbsDevice device;

	private final @Nullable ConnectionListener listener;

	private final LinkedBlockingQueue<ConnectionRequest> requests = new LinkedBlockingQueue<>();

	private final ProtectionDomain domain;

	private final CompletionQueue completions;

	private final MemoryRegion receives;

	private final MemoryRegion sends;

	private final WorkRequest request = new WorkRequest(1);

	private final WorkCompletion[] polled = { new WorkCompletion(), new WorkCompletion(), new WorkCompletion(),
			new WorkCompletion() };

	private final ArrayDeque<byte[]> received = new ArrayDeque<>();

	private QueuePair pair;

	private volatile boolean ended;

	private int sendsOutstanding;

	private int nextSend;

	/** Frames that may be sent by the rules; counted, not obeyed. */
	int credits;

	/** Receives posted again and not yet granted. */
	int owed;

	private RawPeer(boolean listens) {
		this.device = ProviderSelection.select(TestEnvironment.provider("iwarp"), ProviderSelection.discover())
			.provider()
			.openDevice(null);
		this.domain = this.device.allocateProtectionDomain();
		this.completions = this.device.createCompletionQueue(4 * SLOTS);
		this.receives = register();
		this.sends = register();
		this.pair = newPair();
		this.listener = listens ? this.device.listen(new InetSocketAddress(TestEnvironment.address(), 0),
				ListenOptions.DEFAULTS, this.requests::add) : null;
	}

	/** Connects to a server; the handshake of the RPC is up to the test. */
	static RawPeer connect(int port) {
		RawPeer peer = new RawPeer(false);
		peer.await(peer.device.connect(peer.pair, new InetSocketAddress(TestEnvironment.address(), port),
				ConnectOptions.DEFAULTS));
		return peer;
	}

	/** Connects to a server and shakes hands as it should be done. */
	static RawPeer open(int port, int ownCredits) {
		RawPeer peer = connect(port);
		peer.send(Frames.hello(1, ownCredits));
		byte[] reply = peer.receive();
		assertThat(reply).isNotNull();
		assertThat(reply[0]).isEqualTo((byte) 2);
		peer.credits = view(reply).getShort(36) & 0xFFFF;
		return peer;
	}

	/** Listens for clients, one after the other. */
	static RawPeer listen() {
		return new RawPeer(true);
	}

	/** Where it listens. */
	InetSocketAddress address() {
		assertThat(this.listener).isNotNull();
		return this.listener.localAddress();
	}

	/** Accepts the next client and takes its {@code HELLO}. */
	void accept() throws InterruptedException {
		if (this.pair.state() != QueuePairState.INITIALIZED) {
			this.pair.close();
			this.received.clear();
			this.sendsOutstanding = 0;
			this.ended = false;
			this.pair = newPair();
		}
		ConnectionRequest next = this.requests.poll(20, TimeUnit.SECONDS);
		assertThat(next).as("a client connects").isNotNull();
		await(next.accept(this.pair, ConnectOptions.DEFAULTS));
		byte[] hello = receive();
		assertThat(hello).as("HELLO").isNotNull();
		assertThat(hello[0]).isEqualTo((byte) 1);
		this.credits = view(hello).getShort(36) & 0xFFFF;
		this.owed = 0;
	}

	private QueuePair newPair() {
		QueuePair created = this.domain.createQueuePair(
				new QueuePairOptions(this.completions, null, SLOTS, SLOTS, 1, 1, (ending, fault) -> this.ended = true));
		for (int slot = 0; slot < SLOTS; slot++) {
			created.postReceive(this.request.receive(slot).addSegment(this.receives, slot * SLOT_BYTES, SLOT_BYTES));
		}
		return created;
	}

	private MemoryRegion register() {
		return this.domain.registerMemory(ByteBuffer.allocateDirect(SLOTS * SLOT_BYTES),
				EnumSet.of(AccessFlag.LOCAL_WRITE));
	}

	private void await(CompletableFuture<ConnectionInfo> established) {
		pollUntil(established::isDone);
		established.join();
	}

	static ByteBuffer view(byte[] frame) {
		return ByteBuffer.wrap(frame).order(ByteOrder.LITTLE_ENDIAN);
	}

	/** Sends a frame as it is. */
	void send(byte[] frame) {
		post(frame);
		ring();
	}

	/** Sends a frame without looking at what has arrived: Reads stay unanswered. */
	void sendUnheeding(byte[] frame) {
		post(frame);
		this.pair.ringDoorbell();
	}

	/** Sends frames in one go, as fast as the wire takes them. */
	void burst(byte[] frame, int count) {
		for (int i = 0; i < count && !isEnded(); i++) {
			post(frame);
			if (i % SLOTS == SLOTS - 1) {
				ring();
			}
		}
		ring();
	}

	/** Sends a frame by the rules: with a credit, and granting what is owed. */
	void sendFairly(byte[] frame) {
		pollUntil(() -> this.credits > 0 || this.ended);
		view(frame).putShort(2, (short) this.owed);
		this.owed = 0;
		send(frame);
	}

	private void post(byte[] frame) {
		pollUntil(() -> this.sendsOutstanding < SLOTS || this.ended);
		int at = (this.nextSend++ % SLOTS) * SLOT_BYTES;
		this.sends.memory().put(at, frame);
		try {
			PostResult result = this.pair.postSend(this.request.send(0).addSegment(this.sends, at, frame.length));
			assertThat(this.ended || result == PostResult.POSTED).isTrue();
			this.sendsOutstanding++;
			this.credits--;
		}
		catch (VerbsException ex) {
			assertThat(isEnded()).as("posting failed: %s", ex).isTrue();
		}
	}

	private void ring() {
		this.pair.ringDoorbell();
		poll();
	}

	/** Polls once. */
	void poll() {
		int count = this.completions.poll(this.polled);
		for (int i = 0; i < count; i++) {
			WorkCompletion completion = this.polled[i];
			if (completion.queuePair() != this.pair) {
				continue;
			}
			if (completion.opcode() != WorkOpcode.RECEIVE) {
				this.sendsOutstanding--;
			}
			else if (completion.isSuccess()) {
				take((int) completion.id(), (int) completion.byteLength());
			}
		}
	}

	private void take(int slot, int length) {
		byte[] frame = new byte[length];
		this.receives.memory().get(slot * SLOT_BYTES, frame);
		this.received.add(frame);
		if (frame[0] > 2) {
			this.credits += view(frame).getShort(2) & 0xFFFF;
			this.owed++;
		}
		this.pair.postReceive(this.request.receive(slot).addSegment(this.receives, slot * SLOT_BYTES, SLOT_BYTES));
	}

	/**
	 * The next frame of the other side, or {@code null} if it has ended the connection.
	 */
	byte @Nullable [] receive() {
		pollUntil(() -> !this.received.isEmpty() || this.ended);
		poll();
		return this.received.poll();
	}

	/** The next frame of a type; others before it are skipped. */
	byte[] receive(int type) {
		while (true) {
			byte[] frame = receive();
			assertThat(frame).as("connection ended before a frame of type %d", type).isNotNull();
			if (frame[0] == type) {
				return frame;
			}
		}
	}

	boolean isEnded() {
		poll();
		return this.ended;
	}

	/** Polls until the other side has ended the connection. */
	void awaitEnd() {
		pollUntil(() -> this.ended);
	}

	void pollUntil(BooleanSupplier condition) {
		long deadline = System.nanoTime() + DEADLINE_NANOS;
		while (!condition.getAsBoolean()) {
			poll();
			assertThat(System.nanoTime() - deadline).as("raw peer waits in vain").isNegative();
			Thread.onSpinWait();
		}
	}

	@Override
	public void close() {
		leave();
	}

	/** Closes everything. Idempotent. */
	void leave() {
		if (this.listener != null) {
			this.listener.close();
		}
		this.pair.close();
		this.completions.close();
		this.domain.close();
		this.device.close();
	}

}
