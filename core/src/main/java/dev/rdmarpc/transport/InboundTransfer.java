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
import java.nio.ByteOrder;
import java.util.Collection;
import java.util.Objects;

import dev.rdmarpc.codec.ArrivingBytes;
import dev.rdmarpc.memory.MemoryAttachment;
import dev.rdmarpc.memory.RegisteredBuffer;
import dev.rdmarpc.verbs.WorkRequest;

/**
 * One message that is fetched from the peer's memory by Reads. Confined to the loop's
 * driver; see {@link InboundTransfers}.
 */
final class InboundTransfer extends InboundMessage {

	/** What is left of others is so many times as long as what joins them. */
	private static final int MUCH_SHORTER = 4;

	/** The padded metadata, and then the list of windows: many may wait to be read. */
	private final byte[] described;

	private final int metadataBytes;

	private int window;

	private int windowBytes;

	private int postedBytes;

	private int outstanding;

	private int readBytes;

	private int passes;

	private int yields;

	/** Whether it takes turns with equal ones because it is short. */
	private boolean takesTurns;

	private boolean begun;

	private boolean cancelled;

	private long waitingSinceNanos;

	/** Copies what it needs of the frame, whose list of windows has been checked. */
	InboundTransfer(IncomingMessage message, ByteBuffer frame, boolean request) {
		super(message, request);
		this.metadataBytes = FrameFlyweight.padded(message.metadataBytes());
		this.described = new byte[this.metadataBytes
				+ WindowListFlyweight.length(WindowListFlyweight.count(frame, message.messageOffset()))];
		frame.get(message.metadataOffset(), this.described);
	}

	/** Its class. */
	int priority() {
		return head().priority();
	}

	/** Whether it need not wait behind another one that waits. */
	boolean mayPass(InboundTransfer other) {
		return (priority() != other.priority())
				? priority() > other.priority() && !Classes.isDue(other.priority(), other.passes)
				: isEarlier(other) && !other.hasYieldedEnough();
	}

	/**
	 * The same for one that waits, and also if this one is many times as short: then
	 * until that was passed often enough, and as long as it waits anyway for a longer one
	 * that is being read.
	 * @param read those that are being read
	 * @param pausing those that are and wait for memory
	 */
	boolean mayOvertake(InboundTransfer waiting, Collection<InboundTransfer> read,
			Collection<InboundTransfer> pausing) {
		if (mayPass(waiting)) {
			return true;
		}
		boolean enough = waiting.hasYieldedEnough() || Classes.isDue(waiting.priority(), waiting.passes);
		return isMuchShorter(waiting) && (!enough || isOutlasted(waiting, read) || isOutlasted(waiting, pausing));
	}

	private boolean isOutlasted(InboundTransfer waiting, Collection<InboundTransfer> others) {
		for (InboundTransfer other : others) {
			if (other.priority() >= waiting.priority() && isMuchShorter(other) && !waiting.isMuchShorter(other)) {
				return true;
			}
		}
		return false;
	}

	/** The same as {@link #mayPass}, unless the other one has memory already. */
	boolean mayPassWaiting(InboundTransfer other) {
		return other.heldBytes() == 0 && mayPass(other);
	}

	/** Whether it is of the same class as another one, with an earlier deadline. */
	private boolean isEarlier(InboundTransfer other) {
		return priority() == other.priority() && DeadlineQueue.isEarlier(head().dueNanos(), other.head().dueNanos());
	}

	private boolean hasYieldedEnough() {
		return this.yields >= DeadlineQueue.MOST_PASSES;
	}

	/** Whether what is left of another one is many times as long as all of it. */
	boolean isMuchShorter(InboundTransfer other) {
		return (long) memoryBytes() * MUCH_SHORTER <= other.remainingBytes();
	}

	/** Whether it need not wait until others have been read. */
	boolean mayJoin(Collection<InboundTransfer> others, boolean mayPreempt) {
		for (InboundTransfer other : others) {
			if (priority() > other.priority()) {
				continue;
			}
			boolean earlier = priority() == other.priority() && mayPass(other);
			if (isMuchShorter(other)) {
				takesTurns(!earlier);
			}
			else if (!earlier || !mayPreempt) {
				return false;
			}
		}
		return true;
	}

	/** How much those need in the end that do not hold all of it. */
	static long growingBytes(Collection<InboundTransfer> transfers) {
		long bytes = 0;
		for (InboundTransfer transfer : transfers) {
			bytes += (transfer.heldBytes() < transfer.memoryBytes()) ? transfer.memoryBytes() : 0;
		}
		return bytes;
	}

	/** Whether its next Read goes before that of another one that came earlier. */
	boolean goesBefore(InboundTransfer other) {
		boolean due = Classes.isDue(priority(), this.passes);
		boolean otherDue = Classes.isDue(other.priority(), other.passes);
		if (due != otherDue) {
			return due;
		}
		if (priority() != other.priority()) {
			return priority() > other.priority();
		}
		return !other.takesTurns && isEarlier(other) && !other.hasYieldedEnough();
	}

	/**
	 * Says whether it is read by turns with those of its class that are longer, since it
	 * is short.
	 */
	void takesTurns(boolean turns) {
		this.takesTurns |= turns;
	}

	/**
	 * Another one was read first.
	 * @return whether that is more urgent
	 */
	boolean passedBy(InboundTransfer next) {
		boolean overtaken = next.priority() > priority();
		this.passes += overtaken ? 1 : 0;
		this.yields += (next.isEarlier(this) || (!overtaken && next.isMuchShorter(this))) ? 1 : 0;
		return overtaken;
	}

	/** A Read of it was posted. */
	void hadTurn() {
		this.passes = 0;
		this.yields = 0;
	}

	/** How much memory all of it takes. */
	int memoryBytes() {
		return this.metadataBytes + head().messageBytes();
	}

	/** There is no memory for it yet. */
	void waitsSince(long nowNanos) {
		this.waitingSinceNanos = nowNanos;
	}

	/** How long it has waited for memory. */
	long waitedNanos(long nowNanos) {
		return nowNanos - this.waitingSinceNanos;
	}

	/** How much of the message Reads were posted for. */
	int postedBytes() {
		return this.postedBytes;
	}

	/** How much of the message no Read was posted for yet. */
	int remainingBytes() {
		return head().messageBytes() - this.postedBytes;
	}

	/**
	 * Takes ownership of the memory to read into; what was read before moves there. No
	 * Read is under way.
	 */
	void moveTo(RegisteredBuffer memory) {
		ByteBuffer view = memory.buffer();
		view.clear();
		RegisteredBuffer before = memory();
		if (before == null) {
			view.put(0, this.described, 0, this.metadataBytes);
		}
		else {
			view.put(0, before.buffer().clear(), 0, this.metadataBytes + this.postedBytes);
			before.release();
		}
		continueIn(memory);
	}

	/** Describes the next Read. */
	void fillNext(WorkRequest read, MemoryAttachment attachment, int chunkBytes) {
		RegisteredBuffer memory = memory();
		if (memory == null) {
			throw new IllegalStateException("transfer without memory");
		}
		read.read(0, WindowListFlyweight.address(this.described, this.metadataBytes, this.window) + this.windowBytes,
				WindowListFlyweight.key(this.described, this.metadataBytes, this.window));
		read.addSegment(memory.region(attachment), memory.regionOffset() + this.metadataBytes + this.postedBytes,
				nextBytes(chunkBytes));
	}

	private int nextBytes(int chunkBytes) {
		int room = heldBytes() - this.metadataBytes - this.postedBytes;
		return Math.min(Math.min(chunkBytes, room), windowLength() - this.windowBytes);
	}

	private int windowLength() {
		return WindowListFlyweight.lengthBytes(this.described, this.metadataBytes, this.window);
	}

	/** The Read described last has been posted; returns how long it is. */
	int posted(int chunkBytes) {
		int bytes = nextBytes(chunkBytes);
		this.outstanding++;
		this.postedBytes += bytes;
		this.windowBytes += bytes;
		if (this.windowBytes == windowLength()) {
			this.window++;
			this.windowBytes = 0;
		}
		return bytes;
	}

	/** Whether Reads are still to be posted. */
	boolean hasNext() {
		return !this.cancelled && this.metadataBytes + WindowListFlyweight.length(this.window) < this.described.length;
	}

	/** Whether there is memory for another Read. */
	boolean hasRoom() {
		return heldBytes() > this.metadataBytes + this.postedBytes;
	}

	/**
	 * The oldest Read posted has completed or was flushed.
	 * @param bytes how much it has brought
	 */
	void completed(int bytes) {
		this.outstanding--;
		this.readBytes += bytes;
	}

	/** Whether this is the moment to look at what is there: once, if all of it fits. */
	boolean isBegun() {
		boolean begun = !this.begun && !this.cancelled && this.readBytes > 0 && heldBytes() >= memoryBytes();
		this.begun |= begun;
		return begun && this.readBytes < head().messageBytes();
	}

	/** What is there of the message, at the indexes that it will have. */
	ByteBuffer arrived() {
		ByteBuffer view = Objects.requireNonNull(memory()).buffer();
		view.clear().position(this.metadataBytes).limit(this.metadataBytes + this.readBytes);
		return view.order(ByteOrder.LITTLE_ENDIAN);
	}

	/** Copies what has arrived to where it is decoded to, if that is known. */
	void fillArriving() {
		ArrivingBytes arriving = head().arriving();
		if (arriving != null) {
			ByteBuffer arrived = arrived();
			arriving.fill(arrived, arrived.limit());
		}
	}

	/** How much of the message is there. */
	int readBytes() {
		return this.readBytes;
	}

	/** Whether no Read is under way. */
	boolean isQuiet() {
		return this.outstanding == 0;
	}

	/** Posts no more Reads. */
	void cancel() {
		this.cancelled = true;
	}

	boolean isCancelled() {
		return this.cancelled;
	}

}
