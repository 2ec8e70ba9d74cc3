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

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.verbs.AccessFlag;
import dev.rdmarpc.verbs.CompletionQueue;
import dev.rdmarpc.verbs.ConnectOptions;
import dev.rdmarpc.verbs.ConnectionInfo;
import dev.rdmarpc.verbs.ConnectionRequest;
import dev.rdmarpc.verbs.ListenOptions;
import dev.rdmarpc.verbs.MemoryRegion;
import dev.rdmarpc.verbs.MemorySource;
import dev.rdmarpc.verbs.MemorySource.ProvidedMemory;
import dev.rdmarpc.verbs.ProtectionDomain;
import dev.rdmarpc.verbs.QueuePair;
import dev.rdmarpc.verbs.QueuePairListener;
import dev.rdmarpc.verbs.QueuePairOptions;
import dev.rdmarpc.verbs.RemoteRegion;
import dev.rdmarpc.verbs.VerbsDevice;
import dev.rdmarpc.verbs.WorkCompletion;
import dev.rdmarpc.verbs.WorkRequest;
import dev.rdmarpc.verbs.WorkStatus;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A device with one queue pair, memory to lend, of the provider's source if it has one,
 * and memory to read into.
 */
final class LendingPeer implements AutoCloseable {

	static final int BYTES = 1 << 20;

	final VerbsDevice device;

	final ProtectionDomain domain;

	final QueuePair queuePair;

	/** What is lent parts of. */
	final MemoryRegion lent;

	/** What is read into. */
	final MemoryRegion sink;

	final @Nullable MemorySource source;

	private final CompletionQueue completionQueue;

	private final LinkedBlockingQueue<ConnectionRequest> requests = new LinkedBlockingQueue<>();

	private final WorkRequest request = new WorkRequest(1);

	private final WorkCompletion[] completion = { new WorkCompletion() };

	LendingPeer(SharedMemoryOptions options) {
		SharedMemoryProvider provider = new SharedMemoryProvider(options);
		this.source = provider.openMemorySource();
		this.device = provider.openDevice(null);
		this.domain = this.device.allocateProtectionDomain();
		this.completionQueue = this.device.createCompletionQueue(64);
		ProvidedMemory provided = (this.source != null) ? this.source.tryAllocate(BYTES) : null;
		this.lent = (provided != null)
				? this.domain.registerProvided(provided.memory(), Set.of(AccessFlag.LOCAL_WRITE), provided.origin())
				: this.domain.registerMemory(ByteBuffer.allocateDirect(BYTES), Set.of(AccessFlag.LOCAL_WRITE));
		this.sink = this.domain.registerMemory(ByteBuffer.allocateDirect(BYTES), Set.of(AccessFlag.LOCAL_WRITE));
		this.queuePair = this.domain
			.createQueuePair(new QueuePairOptions(this.completionQueue, null, 4, 4, 1, 1, QueuePairListener.NONE));
	}

	static SharedMemoryOptions options(Path directory, SharedMemoryTrust trust) {
		return SharedMemoryOptions.DEFAULTS.withDirectory(directory).withTrust(trust);
	}

	/** Listens; returns the address. */
	InetSocketAddress listen() {
		return this.device
			.listen(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
					new ListenOptions(128, 256, 4096, Station.DEADLINE.toNanos()), this.requests::add)
			.localAddress();
	}

	/** Waits for a peer and connects with it. */
	void accept() throws Exception {
		ConnectionRequest asked = this.requests.poll(Station.DEADLINE.toSeconds(), TimeUnit.SECONDS);
		assertThat(asked).as("a connection request").isNotNull();
		asked.accept(this.queuePair, ConnectOptions.DEFAULTS).get(Station.DEADLINE.toSeconds(), TimeUnit.SECONDS);
	}

	CompletableFuture<ConnectionInfo> connect(InetSocketAddress address) {
		return this.device.connect(this.queuePair, address, ConnectOptions.DEFAULTS.withTimeout(Station.DEADLINE));
	}

	/** Connects with another one. */
	void connect(LendingPeer other) throws Exception {
		CompletableFuture<ConnectionInfo> connecting = connect(other.listen());
		other.accept();
		connecting.get(Station.DEADLINE.toSeconds(), TimeUnit.SECONDS);
	}

	/** Lends the peer part of the memory. */
	MemoryRegion lend(int offset, int length) {
		return this.domain.registerWindow(this.lent, offset, length, Set.of(AccessFlag.REMOTE_READ), this.queuePair);
	}

	/** Fills what is to be lent, so that each byte says what was written when. */
	void fill(int seed) {
		ByteBuffer memory = this.lent.memory();
		for (int i = 0; i < BYTES; i += Long.BYTES) {
			memory.putLong(i, pattern(seed, i));
		}
	}

	private static long pattern(int seed, int position) {
		return (seed + 1) * 0x9E3779B97F4A7C15L + position * 0x94D049BB133111EBL;
	}

	/** Asserts that all of the sink is what was filled in as such. */
	void assertHolds(int seed) {
		ByteBuffer memory = this.sink.memory();
		for (int i = 0; i < BYTES; i += Long.BYTES) {
			if (memory.getLong(i) != pattern(seed, i)) {
				throw new AssertionError("word at " + i + " is not of round " + seed);
			}
		}
	}

	/** Posts a Read into the sink. */
	void post(RemoteRegion remote) {
		this.queuePair.postSend(this.request.read(1, remote.address(), remote.key())
			.addSegment(this.sink, 0, (int) remote.lengthBytes()));
		this.queuePair.ringDoorbell();
	}

	/** Polls; returns the status of what has completed, or {@code null}. */
	@Nullable WorkStatus poll() {
		return (this.completionQueue.poll(this.completion) > 0) ? this.completion[0].status() : null;
	}

	/** Reads into the sink; returns how it ended. */
	WorkStatus read(RemoteRegion remote, LendingPeer... others) {
		post(remote);
		long deadline = System.nanoTime() + Station.DEADLINE.toNanos();
		WorkStatus status = poll();
		while (status == null) {
			for (LendingPeer other : others) {
				other.poll();
			}
			assertThat(System.nanoTime() - deadline).as("waiting for the Read").isNegative();
			status = poll();
		}
		return status;
	}

	@Override
	public void close() {
		this.device.close();
		if (this.source != null) {
			this.source.close();
		}
	}

}
