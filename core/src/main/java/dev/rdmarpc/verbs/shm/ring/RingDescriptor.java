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

/**
 * The layout of the memory of one connection, in the byte order of the host.
 *
 * <pre>
 *        0 +---------------------------+     side: +-------------------------------+
 *          | side 0, who listened      |         0 | tail (8)  state (4) status (4)|
 *     1024 +---------------------------+        16 | failed sequence (4)           |
 *          | side 1, who connected     |       128 | head (8)                      |
 *     2048 +---------------------------+       256 | asleep (4)                    |
 *          | announcement of side 0    |       384 | left (4)                      |
 *     2304 +---------------------------+       512 | detail: length (4), ASCII     |
 *          | announcement of side 1    |           +-------------------------------+
 *     4096 +---------------------------+
 *          | ring written by side 0    |  announcement: +--------------------------+
 * + length +---------------------------+              0 | grant (8)   domain (8)   |
 *          | ring written by side 1    |             16 | length (4)  ASCII        |
 *          +---------------------------+                +--------------------------+
 * </pre>
 *
 * <p>
 * A side that trusts processes of its user announces its window table by name before the
 * peer gets to see the memory, and the numbers by which records in there name this
 * connection's queue pair and its domain. The others leave zeros.
 *
 * <p>
 * Each side writes its own part and its own ring only, with one exception: who wakes a
 * sleeping peer sets the peer's {@code asleep} back to {@link #AWAKE}. Tail and head
 * count the bytes ever written and consumed; they are multiples of {@link #UNIT_BYTES}.
 *
 * <p>
 * A record is a header and its payload, in one piece, padded to {@link #UNIT_BYTES}:
 *
 * <pre>
 *  0             4      5       6        8             12           16
 *  +-------------+------+-------+--------+-------------+------------+
 *  | payload     | kind | flags | unused | sequence    | key        |
 *  +-------------+------+-------+--------+-------------+------------+
 *  | address                             | length                   |
 *  +-------------------------------------+--------------------------+
 *  | payload ...
 * </pre>
 */
public final class RingDescriptor {

	/** The least capacity of a ring. */
	public static final int MIN_RING_BYTES = 16 * 1024;

	/** The greatest capacity of a ring. */
	public static final int MAX_RING_BYTES = 1 << 28;

	/** What rings are not made smaller than for want of memory. */
	private static final int SMALL_RING_BYTES = 256 * 1024;

	/** A connection takes such a part of what is free, unless its rings are small. */
	private static final int FREE_FRACTION = 512;

	static final int CONTROL_BYTES = 4096;

	static final int SIDE_BYTES = 1024;

	static final int TAIL = 0;

	static final int STATE = 8;

	static final int STATUS = 12;

	static final int FAILED_SEQUENCE = 16;

	static final int HEAD = 128;

	static final int ASLEEP = 256;

	/** Of both sides, a bit each; used in the area of side 0 only. */
	static final int LEFT = 384;

	static final int DETAIL = 512;

	static final int MAX_DETAIL_BYTES = SIDE_BYTES - DETAIL - Integer.BYTES;

	/** Where the announcement of side 0 begins. */
	static final int ANNOUNCEMENT = 2 * SIDE_BYTES;

	static final int ANNOUNCEMENT_BYTES = 256;

	static final int GRANT = 0;

	static final int DOMAIN = 8;

	static final int TABLE = 16;

	static final int MAX_TABLE_BYTES = 64;

	/** State: connected. */
	static final int OPEN = 0;

	/** State: ended, for the reason that status and detail tell. */
	static final int ENDED = 1;

	/** Asleep: polls, or has been woken. */
	static final int AWAKE = 0;

	/** Asleep: to be woken when there is something to consume. */
	static final int ASLEEP_FOR_DATA = 1;

	/** Asleep: to be woken when there is something to consume, or room. */
	static final int ASLEEP_FOR_ROOM = 2;

	static final int UNIT_BYTES = 32;

	static final int HEADER_BYTES = 32;

	/** Offset of the word that holds payload length, kind and flags. */
	static final int KIND_WORD = 0;

	/** Offset of the word that holds sequence and key. */
	static final int SEQUENCE_WORD = 8;

	/** Offset of the address. */
	static final int ADDRESS_WORD = 16;

	/** Offset of the length. */
	static final int LENGTH_WORD = 24;

	/** Kind: part of a Send. */
	static final int SEND = 1;

	/** Kind: part of a Write, with its own address. */
	static final int WRITE = 2;

	/** Kind: a Read of key, address and length, without a payload. */
	static final int READ_REQUEST = 3;

	/** Kind: part of what a Read asked for. */
	static final int READ_RESPONSE = 4;

	/** Kind: nothing, up to the end of the ring. */
	static final int PADDING = 5;

	/** Flag: the last part of the message. */
	static final int LAST = 1;

	/** Flag: the Send asks for a solicited event. */
	static final int SOLICITED = 2;

	/** Flag: the Send invalidates the region under the key. */
	static final int INVALIDATE = 4;

	private RingDescriptor() {
	}

	/** The size of the memory of a connection with rings of a capacity. */
	public static long totalBytes(int ringBytes) {
		return CONTROL_BYTES + 2L * ringBytes;
	}

	/**
	 * The capacity of the rings of a new connection: what is wanted, or a half or a
	 * fourth of it and so on where the connection would take much of what is free, but
	 * not less than 256 KiB for that reason.
	 * @param wantedBytes a capacity
	 * @param freeBytes free where the memory of connections lies
	 */
	public static int capacity(int wantedBytes, long freeBytes) {
		int ringBytes = wantedBytes;
		while (ringBytes > SMALL_RING_BYTES && totalBytes(ringBytes) > freeBytes / FREE_FRACTION) {
			ringBytes /= 2;
		}
		return ringBytes;
	}

	/** Whether a ring may have a capacity. */
	public static boolean isCapacity(int ringBytes) {
		return ringBytes >= MIN_RING_BYTES && ringBytes <= MAX_RING_BYTES && Integer.bitCount(ringBytes) == 1;
	}

	static int padded(int payloadBytes) {
		return payloadBytes + UNIT_BYTES - 1 & -UNIT_BYTES;
	}

}
