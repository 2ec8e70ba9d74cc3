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

package dev.rdmarpc.verbs.shm.ring;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;

import org.jspecify.annotations.Nullable;

/**
 * The mapped memory of one connection, seen from one of its two sides.
 *
 * <p>
 * Implementation notes. A Java variable handle on the mapped bytes has the same memory
 * ordering as one on a field: the two processes share the cache lines. All words are
 * aligned to their size.
 */
public final class SharedMemory {

	private static final VarHandle LONGS = MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.nativeOrder());

	private static final VarHandle INTS = MethodHandles.byteBufferViewVarHandle(int[].class, ByteOrder.nativeOrder());

	private final ByteBuffer bytes;

	private final int ringBytes;

	private final int own;

	private final int peer;

	/**
	 * Wraps mapped memory.
	 * @param bytes as many as {@link RingDescriptor#totalBytes} says
	 * @param side 0 for who listened, 1 for who connected
	 */
	public SharedMemory(ByteBuffer bytes, int ringBytes, int side) {
		if (!RingDescriptor.isCapacity(ringBytes) || bytes.capacity() != RingDescriptor.totalBytes(ringBytes)) {
			throw new IllegalArgumentException(bytes.capacity() + " bytes for rings of " + ringBytes);
		}
		this.bytes = bytes.order(ByteOrder.nativeOrder());
		this.ringBytes = ringBytes;
		this.own = side * RingDescriptor.SIDE_BYTES;
		this.peer = (1 - side) * RingDescriptor.SIDE_BYTES;
	}

	ByteBuffer bytes() {
		return this.bytes;
	}

	int ringBytes() {
		return this.ringBytes;
	}

	int ownRing() {
		return RingDescriptor.CONTROL_BYTES + this.own / RingDescriptor.SIDE_BYTES * this.ringBytes;
	}

	int peerRing() {
		return RingDescriptor.CONTROL_BYTES + this.peer / RingDescriptor.SIDE_BYTES * this.ringBytes;
	}

	long peerTail() {
		return (long) LONGS.getAcquire(this.bytes, this.peer + RingDescriptor.TAIL);
	}

	long peerHead() {
		return (long) LONGS.getAcquire(this.bytes, this.peer + RingDescriptor.HEAD);
	}

	void publishTail(long tail) {
		LONGS.setRelease(this.bytes, this.own + RingDescriptor.TAIL, tail);
	}

	void publishHead(long head) {
		LONGS.setRelease(this.bytes, this.own + RingDescriptor.HEAD, head);
	}

	boolean peerHasEnded() {
		return (int) INTS.getAcquire(this.bytes, this.peer + RingDescriptor.STATE) != RingDescriptor.OPEN;
	}

	int peerStatus() {
		return this.bytes.getInt(this.peer + RingDescriptor.STATUS);
	}

	int peerFailedSequence() {
		return this.bytes.getInt(this.peer + RingDescriptor.FAILED_SEQUENCE);
	}

	/** What the peer says of the end, made fit for a log. */
	String peerDetail() {
		int start = this.peer + RingDescriptor.DETAIL;
		int length = Math.max(0, Math.min(this.bytes.getInt(start), RingDescriptor.MAX_DETAIL_BYTES));
		StringBuilder detail = new StringBuilder(length);
		for (int i = 0; i < length; i++) {
			byte letter = this.bytes.get(start + Integer.BYTES + i);
			detail.append((letter >= ' ' && letter <= '~') ? (char) letter : '?');
		}
		return detail.toString();
	}

	/** Tells the peer that this side has ended; what was published before counts. */
	void end(int status, int failedSequence, String detail) {
		byte[] text = detail.getBytes(StandardCharsets.US_ASCII);
		int length = Math.min(text.length, RingDescriptor.MAX_DETAIL_BYTES);
		this.bytes.putInt(this.own + RingDescriptor.DETAIL, length);
		this.bytes.put(this.own + RingDescriptor.DETAIL + Integer.BYTES, text, 0, length);
		this.bytes.putInt(this.own + RingDescriptor.STATUS, status);
		this.bytes.putInt(this.own + RingDescriptor.FAILED_SEQUENCE, failedSequence);
		INTS.setRelease(this.bytes, this.own + RingDescriptor.STATE, RingDescriptor.ENDED);
	}

	/** Tells the peer which windows it may look into; before it sees the memory. */
	public void announce(Announcement announcement) {
		byte[] name = announcement.table().getBytes(StandardCharsets.US_ASCII);
		int at = announcement(this.own);
		this.bytes.putLong(at + RingDescriptor.GRANT, announcement.grantNumber());
		this.bytes.putLong(at + RingDescriptor.DOMAIN, announcement.domainNumber());
		this.bytes.put(at + RingDescriptor.TABLE + Integer.BYTES, name);
		this.bytes.putInt(at + RingDescriptor.TABLE, name.length);
	}

	/** What the peer has announced, {@code null} if nothing that makes sense. */
	public @Nullable Announcement peerAnnouncement() {
		int at = announcement(this.peer);
		int length = this.bytes.getInt(at + RingDescriptor.TABLE);
		if (length <= 0 || length > RingDescriptor.MAX_TABLE_BYTES) {
			return null;
		}
		byte[] name = new byte[length];
		this.bytes.get(at + RingDescriptor.TABLE + Integer.BYTES, name);
		return new Announcement(new String(name, StandardCharsets.US_ASCII),
				this.bytes.getLong(at + RingDescriptor.GRANT), this.bytes.getLong(at + RingDescriptor.DOMAIN));
	}

	private static int announcement(int side) {
		return RingDescriptor.ANNOUNCEMENT + side / RingDescriptor.SIDE_BYTES * RingDescriptor.ANNOUNCEMENT_BYTES;
	}

	/** Asks the peer to wake this side; a full fence lies behind it. */
	void fallAsleep(int how) {
		if ((int) INTS.getOpaque(this.bytes, this.own + RingDescriptor.ASLEEP) != how) {
			INTS.setVolatile(this.bytes, this.own + RingDescriptor.ASLEEP, how);
		}
		VarHandle.fullFence();
	}

	/**
	 * Whether the peer is asleep and this side is the one to wake it. The caller has
	 * published something.
	 * @param least how it must be asleep
	 */
	boolean takeSleeper(int least) {
		VarHandle.fullFence();
		int how = (int) INTS.getOpaque(this.bytes, this.peer + RingDescriptor.ASLEEP);
		return how >= least
				&& INTS.compareAndSet(this.bytes, this.peer + RingDescriptor.ASLEEP, how, RingDescriptor.AWAKE);
	}

	/**
	 * Notes that this side does not use the memory any more. That and the question
	 * whether the peer does are one step, after which this side touches nothing: whoever
	 * leaves last cuts the file, perhaps at once.
	 * @return whether the peer has left before
	 */
	boolean leave() {
		int ownBit = (this.own == 0) ? 1 : 2;
		return (int) INTS.getAndBitwiseOr(this.bytes, RingDescriptor.LEFT, ownBit) != 0;
	}

	/**
	 * What a side says of its windows.
	 *
	 * @param table the name of its window table
	 * @param grantNumber names its queue pair
	 * @param domainNumber names the domain of that
	 */
	public record Announcement(String table, long grantNumber, long domainNumber) {

	}

}
