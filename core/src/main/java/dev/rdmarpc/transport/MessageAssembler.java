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

package dev.rdmarpc.transport;

import java.nio.ByteBuffer;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.IntConsumer;
import java.util.function.IntFunction;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.memory.RegisteredBuffer;

/**
 * Puts messages of several frames together. Frames of different messages may interleave;
 * those of one message come in order.
 *
 * <p>
 * Confined to the loop's driver. Bounded by the number of calls of the channel and by the
 * bytes that unfinished messages may take together, of which one alone may always be
 * begun. A message for which there is no room or no registered memory is read and
 * dropped.
 *
 * <p>
 * The length that a peer announces costs nothing. What a message takes follows what has
 * arrived of it: eight times as much up to {@value #FIRST_BYTES} bytes, so that one of
 * the usual size is copied once and no more, and twice as much beyond. A message goes on
 * when a frame's worth of it has arrived since it was last said to, or its end.
 *
 * <p>
 * Implementation notes. A peer may begin thousands of messages, and each may have to be
 * dropped for the next one, so those that have memory are in an order in which neither
 * the largest nor any other is searched for.
 */
final class MessageAssembler {

	/** What a message may take at once, however little of it has arrived. */
	static final int FIRST_BYTES = 64 * 1024;

	private static final int FIRST_FACTOR = 8;

	private final IntFunction<@Nullable RegisteredBuffer> memory;

	/** In their order, for to find the first one in a table that was full takes long. */
	private final Map<Integer, Assembly> assemblies = new LinkedHashMap<>();

	/** Those that have memory: what has more of it is due earlier. */
	private final DeadlineQueue<Assembly> holding = new DeadlineQueue<>();

	private final int maxAssemblies;

	private final long maxBytes;

	private final int stepBytes;

	private long heldBytes;

	/** No message has gone on for the last time before that. */
	private long oldestNanos;

	/**
	 * Creates an assembler.
	 * @param memory allocates, or declines
	 * @param stepBytes how much of a message must arrive for it to have gone on
	 */
	MessageAssembler(IntFunction<@Nullable RegisteredBuffer> memory, int maxAssemblies, long maxBytes, int stepBytes) {
		this.memory = memory;
		this.maxAssemblies = maxAssemblies;
		this.maxBytes = maxBytes;
		this.stepBytes = stepBytes;
	}

	/** Memory of the messages under assembly. */
	long heldBytes() {
		return this.heldBytes;
	}

	/** Messages under assembly, dropped ones included. */
	int count() {
		return this.assemblies.size();
	}

	/** Passes on the ids of those that are requests. */
	void forEachRequest(IntConsumer id) {
		this.assemblies.forEach((key, assembly) -> {
			if (assembly.isRequest()) {
				id.accept(key);
			}
		});
	}

	/**
	 * Begins a message whose first frame does not hold all of it.
	 * @param drop whether to read and drop it
	 * @return whether the peer may begin it
	 */
	boolean begin(IncomingMessage head, ByteBuffer frame, int frameLength, boolean request, boolean drop,
			long nowNanos) {
		if (this.assemblies.size() >= this.maxAssemblies || this.assemblies.containsKey(head.requestId())) {
			return false;
		}
		int metadataBytes = FrameFlyweight.padded(head.metadataBytes());
		int received = frameLength - head.messageOffset();
		Assembly assembly = new Assembly(head, metadataBytes, request);
		// what is noted down before it has memory is given back in any case
		this.assemblies.put(head.requestId(), assembly);
		RegisteredBuffer target = drop ? null : claim(assembly.memoryBytes(received));
		hold(assembly, target);
		if (target != null) {
			ByteBuffer view = target.buffer();
			view.clear();
			view.put(0, frame, head.metadataOffset(), metadataBytes + received);
		}
		assembly.received = received;
		assembly.lastReceived = received;
		assembly.lastNanos = nowNanos;
		if (this.assemblies.size() == 1) {
			this.oldestNanos = nowNanos;
		}
		return true;
	}

	private @Nullable RegisteredBuffer claim(int bytes) {
		if (this.heldBytes > 0 && this.heldBytes + bytes > this.maxBytes) {
			return null;
		}
		RegisteredBuffer buffer = this.memory.apply(bytes);
		if (buffer != null) {
			this.heldBytes += buffer.length();
		}
		return buffer;
	}

	/** Adds a continuation frame. */
	Outcome add(ByteBuffer frame, int frameLength, long nowNanos) {
		Assembly assembly = this.assemblies.get(FrameFlyweight.requestId(frame));
		int bytes = frameLength - FrameFlyweight.HEADER_LENGTH;
		if (assembly == null || bytes <= 0 || FrameFlyweight.messageBytes(frame) != assembly.head().messageBytes()
				|| FrameFlyweight.offsetBytes(frame) != assembly.received
				|| bytes > assembly.head().messageBytes() - assembly.received) {
			return Outcome.VIOLATION;
		}
		RegisteredBuffer target = makeRoom(assembly, bytes);
		if (target != null) {
			target.buffer().put(assembly.offset + assembly.received, frame, FrameFlyweight.HEADER_LENGTH, bytes);
		}
		assembly.received += bytes;
		if (assembly.received - assembly.lastReceived >= this.stepBytes) {
			assembly.lastReceived = assembly.received;
			assembly.lastNanos = nowNanos;
		}
		return (assembly.received < assembly.head().messageBytes()) ? Outcome.INCOMPLETE : Outcome.COMPLETE;
	}

	/** The memory for what has arrived and so many bytes more, if it is kept. */
	private @Nullable RegisteredBuffer makeRoom(Assembly assembly, int bytes) {
		RegisteredBuffer target = assembly.memory();
		if (target == null || assembly.offset + assembly.received + bytes <= target.length()) {
			return target;
		}
		// its own memory must not stand in the way of a message that is alone
		this.heldBytes -= target.length();
		unlink(assembly);
		RegisteredBuffer larger = claim(assembly.memoryBytes(assembly.received + bytes));
		hold(assembly, larger);
		try {
			if (larger != null) {
				larger.buffer().clear().put(0, target.buffer(), 0, assembly.offset + assembly.received);
			}
		}
		finally {
			target.release();
		}
		return larger;
	}

	private void hold(Assembly assembly, @Nullable RegisteredBuffer target) {
		assembly.continueIn(target);
		if (target != null) {
			this.holding.add(assembly.place, -target.length());
		}
	}

	/** Before its memory changes hands, if it has any. */
	private void unlink(Assembly assembly) {
		if (assembly.place.isWaiting()) {
			this.holding.remove(assembly.place);
		}
	}

	/** Takes the message that has just become complete or dropped, with its memory. */
	Assembly takeCompleted(int requestId) {
		Assembly assembly = this.assemblies.remove(requestId);
		if (assembly == null) {
			throw new IllegalStateException("no message " + requestId + " under assembly");
		}
		unlink(assembly);
		this.heldBytes -= assembly.heldBytes();
		return assembly;
	}

	/** Forgets a message of which no more frames will come. */
	void cancel(int requestId) {
		Assembly assembly = this.assemblies.remove(requestId);
		if (assembly != null) {
			release(assembly);
		}
	}

	/** Stops keeping the bytes of a message in which nobody is interested any more. */
	void drop(int requestId) {
		Assembly assembly = this.assemblies.get(requestId);
		if (assembly != null) {
			release(assembly);
		}
	}

	private void release(Assembly assembly) {
		unlink(assembly);
		this.heldBytes -= assembly.heldBytes();
		assembly.release();
	}

	/**
	 * Drops messages, those with the most memory first, until so much has been given
	 * back.
	 * @return whether any was given back
	 */
	boolean shed(long bytes) {
		long target = this.heldBytes - bytes;
		boolean shed = false;
		Assembly most = this.holding.first();
		while (most != null && this.heldBytes > target) {
			release(most);
			shed = true;
			most = this.holding.first();
		}
		return shed;
	}

	/** Whether some message has not gone on since then. */
	boolean anyStalled(long sinceNanos) {
		if (this.assemblies.isEmpty() || this.oldestNanos - sinceNanos >= 0) {
			return false;
		}
		long oldest = Long.MAX_VALUE;
		for (Assembly assembly : this.assemblies.values()) {
			oldest = Math.min(oldest, assembly.lastNanos - sinceNanos);
			if (oldest < 0) {
				return true;
			}
		}
		this.oldestNanos = sinceNanos + oldest;
		return false;
	}

	/**
	 * Gives the memory of what is under assembly back, or some of it: a peer may have
	 * begun so many messages that others would have to wait for all of them. What has no
	 * memory is not looked at.
	 * @param most how many messages give memory back at most
	 * @return how many did, less only if no other one has any
	 */
	int close(int most) {
		int count = 0;
		for (Assembly next = this.holding.first(); count < most && next != null; next = this.holding.first()) {
			release(next);
			count++;
		}
		if (count < most) {
			forget();
		}
		return count;
	}

	/** Only what has failed can hold memory still. */
	private void forget() {
		if (this.heldBytes > 0) {
			this.assemblies.values().forEach(this::release);
		}
		this.assemblies.clear();
	}

	/** A message under assembly. */
	static final class Assembly extends InboundMessage {

		private final int offset;

		private int received;

		private int lastReceived;

		private long lastNanos;

		private final DeadlineQueue.Place<Assembly> place = new DeadlineQueue.Place<>(this);

		Assembly(IncomingMessage begun, int offset, boolean request) {
			super(begun, request);
			this.offset = offset;
		}

		/** How much memory it should have when so much of the message has arrived. */
		private int memoryBytes(int messageBytes) {
			long arrived = (long) this.offset + messageBytes;
			long bytes = Math.max(2 * arrived, Math.min(FIRST_FACTOR * arrived, FIRST_BYTES));
			return (int) Math.min(bytes, this.offset + head().messageBytes());
		}

	}

	/** What became of a frame. */
	enum Outcome {

		/** More frames are to come. */
		INCOMPLETE,

		/** The message is complete or completely dropped; see {@link #takeCompleted}. */
		COMPLETE,

		/** The frame contradicts the ones before it. */
		VIOLATION

	}

}
