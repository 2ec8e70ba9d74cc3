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

package dev.rdmarpc.tools.ping;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.EnumSet;
import java.util.Queue;
import java.util.Set;
import java.util.function.BooleanSupplier;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.verbs.AccessFlag;
import dev.rdmarpc.verbs.CompletionQueue;
import dev.rdmarpc.verbs.MemoryRegion;
import dev.rdmarpc.verbs.ProtectionDomain;
import dev.rdmarpc.verbs.QueuePair;
import dev.rdmarpc.verbs.QueuePairFault;
import dev.rdmarpc.verbs.QueuePairListener;
import dev.rdmarpc.verbs.QueuePairOptions;
import dev.rdmarpc.verbs.QueuePairState;
import dev.rdmarpc.verbs.RemoteRegion;
import dev.rdmarpc.verbs.VerbsDevice;
import dev.rdmarpc.verbs.WorkCompletion;
import dev.rdmarpc.verbs.WorkOpcode;
import dev.rdmarpc.verbs.WorkRequest;
import dev.rdmarpc.verbs.WorkStatus;

/**
 * One end of a connection that pings: a queue pair with all it needs, and the steps of a
 * ping as calls that block.
 *
 * <p>
 * Used by one thread, except {@link #stop()}.
 */
final class PingConnection implements AutoCloseable {

	/** Advertisements the peer may be ahead. */
	private static final int RECEIVES = 4;

	/** Longer than an advertisement, so that what is none can be said to be none. */
	private static final int RECEIVE_BYTES = 256;

	private static final int SENDS = 4;

	private static final int SENDS_OFFSET = RECEIVES * RECEIVE_BYTES;

	/** How long to poll before sleeping: about a round trip on a fast network. */
	private static final long SPIN_NANOS = 50_000;

	private static final long LONGEST_SLEEP_NANOS = 100_000_000;

	private final ProtectionDomain domain;

	private final CompletionQueue completionQueue;

	private final QueuePair queuePair;

	private final MemoryRegion messages;

	private final WorkRequest request = new WorkRequest(1);

	private final WorkCompletion[] completions = new WorkCompletion[RECEIVES + SENDS + 1];

	private final Queue<Received> received = new ArrayDeque<>();

	private final long timeoutNanos;

	private int sendsOutstanding;

	private int nextSend;

	private boolean transferring;

	private @Nullable String failure;

	private volatile boolean stopped;

	/**
	 * Creates a connection that is not connected, with receives posted.
	 * @param device borrowed
	 * @param timeout for each step
	 */
	PingConnection(VerbsDevice device, Duration timeout) {
		this.timeoutNanos = timeout.toNanos();
		for (int i = 0; i < this.completions.length; i++) {
			this.completions[i] = new WorkCompletion();
		}
		this.domain = device.allocateProtectionDomain();
		this.completionQueue = device.createCompletionQueue(RECEIVES + SENDS + 1);
		this.queuePair = this.domain.createQueuePair(
				new QueuePairOptions(this.completionQueue, null, SENDS + 1, RECEIVES, 1, 1, QueuePairListener.NONE));
		this.messages = register(SENDS_OFFSET + SENDS * AdvertisementDescriptor.LENGTH_BYTES,
				EnumSet.of(AccessFlag.LOCAL_WRITE));
		for (int i = 0; i < RECEIVES; i++) {
			postReceive(i);
		}
	}

	/** To be connected or accepted with. */
	QueuePair queuePair() {
		return this.queuePair;
	}

	/** Registers new memory, released with the connection. */
	MemoryRegion register(int sizeBytes, Set<AccessFlag> access) {
		return this.domain.registerMemory(ByteBuffer.allocateDirect(sizeBytes), access);
	}

	private void postReceive(int slot) {
		this.queuePair
			.postReceive(this.request.receive(slot).addSegment(this.messages, slot * RECEIVE_BYTES, RECEIVE_BYTES));
	}

	/** Sends an advertisement. */
	void send(RemoteRegion advertised, String what) {
		await(() -> this.sendsOutstanding < SENDS, what, this.timeoutNanos);
		int offset = SENDS_OFFSET + this.nextSend * AdvertisementDescriptor.LENGTH_BYTES;
		this.nextSend = (this.nextSend + 1) % SENDS;
		AdvertisementDescriptor.encode(this.messages.memory(), offset, advertised);
		this.queuePair.postSend(
				this.request.send(RECEIVES).addSegment(this.messages, offset, AdvertisementDescriptor.LENGTH_BYTES));
		this.sendsOutstanding++;
		this.queuePair.ringDoorbell();
	}

	/** Waits for the peer's next advertisement. */
	RemoteRegion receive(String what) {
		await(() -> !this.received.isEmpty(), what, this.timeoutNanos);
		Received next = this.received.remove();
		if (next.lengthBytes != AdvertisementDescriptor.LENGTH_BYTES) {
			throw PingException.of("the peer sent %d bytes while waiting for %s (expected: %d); it is no rping",
					next.lengthBytes, what, AdvertisementDescriptor.LENGTH_BYTES);
		}
		RemoteRegion advertised = AdvertisementDescriptor.decode(this.messages.memory(), next.slot * RECEIVE_BYTES);
		postReceive(next.slot);
		return advertised;
	}

	/**
	 * Waits for the peer's next advertisement, or for the end of the connection.
	 * @return whether one has come
	 */
	boolean awaitReceived(String what, Duration patience) {
		await(() -> !this.received.isEmpty() || hasEnded(), what, patience.toNanos());
		return !this.received.isEmpty();
	}

	/** Reads from where it was advertised into the beginning of a region. */
	void read(RemoteRegion source, MemoryRegion sink, int lengthBytes, String what) {
		transfer(this.request.read(0, source.address(), source.key()), sink, lengthBytes, what);
	}

	/** Writes the beginning of a region to where it was advertised. */
	void write(MemoryRegion source, RemoteRegion sink, int lengthBytes, String what) {
		transfer(this.request.write(0, sink.address(), sink.key()), source, lengthBytes, what);
	}

	private void transfer(WorkRequest transfer, MemoryRegion local, int lengthBytes, String what) {
		this.transferring = true;
		this.queuePair.postSend(transfer.addSegment(local, 0, lengthBytes));
		this.queuePair.ringDoorbell();
		await(() -> !this.transferring, what, this.timeoutNanos);
	}

	/** Ends the connection in order, after what was sent. */
	void disconnect() {
		this.queuePair.disconnect();
		await(() -> this.queuePair.state() == QueuePairState.ERROR, "the end of the connection", this.timeoutNanos);
	}

	/** Whether the connection has been ended in order by the peer. */
	private boolean hasEnded() {
		QueuePairFault fault = this.queuePair.fault();
		return this.queuePair.state() == QueuePairState.ERROR && fault != null
				&& fault.origin() == QueuePairFault.Origin.DISCONNECT;
	}

	/** Makes the current wait fail; for other threads. */
	void stop() {
		this.stopped = true;
		this.completionQueue.wakeUp();
	}

	private void await(BooleanSupplier condition, String what, long patienceNanos) {
		long began = System.nanoTime();
		while (true) {
			boolean progress = poll();
			if (condition.getAsBoolean()) {
				return;
			}
			checkState(what);
			long waited = System.nanoTime() - began;
			if (waited > patienceNanos) {
				throw PingException.of("nothing happened for %.1f s while waiting for %s", patienceNanos / 1e9, what);
			}
			if (!progress && waited > SPIN_NANOS) {
				this.completionQueue.requestNotification(false);
				if (!poll()) {
					this.completionQueue.await(Math.min(patienceNanos - waited + 1, LONGEST_SLEEP_NANOS));
				}
			}
		}
	}

	private void checkState(String what) {
		if (this.stopped) {
			throw new PingException("stopped while waiting for " + what);
		}
		if (this.failure != null || this.queuePair.state() == QueuePairState.ERROR) {
			throw new PingException(describeEnd() + " while waiting for " + what);
		}
	}

	private String describeEnd() {
		QueuePairFault fault = this.queuePair.fault();
		if (fault == null) {
			return "a work request failed with " + this.failure;
		}
		if (fault.origin() == QueuePairFault.Origin.DISCONNECT) {
			return "the peer closed the connection";
		}
		if (fault.status() == WorkStatus.CONNECTION_LOST) {
			return "the connection was lost (" + fault.detail() + ")";
		}
		String side = (fault.origin() == QueuePairFault.Origin.REMOTE) ? "the peer" : "this side";
		return side + " found an error and ended the connection (" + fault.status() + ", " + fault.detail() + ")";
	}

	private boolean poll() {
		int count = this.completionQueue.poll(this.completions);
		for (int i = 0; i < count; i++) {
			WorkCompletion completion = this.completions[i];
			if (completion.isSuccess()) {
				complete(completion);
			}
			else if (completion.status() != WorkStatus.FLUSHED) {
				this.failure = completion.toString();
			}
		}
		return count > 0;
	}

	private void complete(WorkCompletion completion) {
		if (completion.opcode() == WorkOpcode.RECEIVE) {
			this.received.add(new Received((int) completion.id(), completion.byteLength()));
		}
		else if (completion.opcode() == WorkOpcode.SEND) {
			this.sendsOutstanding--;
		}
		else {
			this.transferring = false;
		}
	}

	@Override
	public void close() {
		this.queuePair.close();
		this.completionQueue.close();
		this.domain.close();
	}

	/** A message that has come. */
	private record Received(int slot, long lengthBytes) {
	}

}
