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

import org.jspecify.annotations.Nullable;

/**
 * The window table of a peer, for who reads its memory: opens one window at a time.
 * Whatever is not as it should be makes a window one that cannot be opened, and the Read
 * one that the peer is asked for.
 *
 * <p>
 * Not thread-safe: guarded by the lock of the completion queue. A fault in the mapped
 * memory is an {@link InternalError}.
 *
 * <p>
 * Implementation notes. See {@link WindowTable}: the generation is read with acquire
 * semantics before the record, and again behind a fence that keeps all earlier reads
 * before it, those of the record as well as those of the memory. A peer that writes
 * nonsense is answered nonsense, and no more: each value is read once and checked against
 * the mapped memory before it is used.
 */
public final class PeerWindows {

	private static final VarHandle LONGS = MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.nativeOrder());

	private final ByteBuffer table;

	private final long grantNumber;

	private final long domainNumber;

	private final PeerExtents extents;

	private int record;

	private long generation;

	private int offset;

	private long seal;

	private @Nullable ByteBuffer memory;

	/**
	 * Creates a view of a peer's table.
	 * @param table of {@link WindowDescriptor#TOTAL_BYTES}
	 * @param grantNumber of the peer's queue pair
	 * @param domainNumber of the peer's domain
	 */
	public PeerWindows(ByteBuffer table, long grantNumber, long domainNumber, PeerExtents extents) {
		if (table.capacity() != WindowDescriptor.TOTAL_BYTES) {
			throw new IllegalArgumentException(
					"table of " + table.capacity() + " bytes (expected: " + WindowDescriptor.TOTAL_BYTES + ")");
		}
		this.table = table.duplicate().order(ByteOrder.nativeOrder());
		this.grantNumber = grantNumber;
		this.domainNumber = domainNumber;
		this.extents = extents;
	}

	/**
	 * Opens a window.
	 * @return whether its bytes can be read from {@link #memory()}, as long as
	 * {@link #isStillOpen()}
	 */
	boolean tryOpen(int key, long address, long length) {
		this.memory = null;
		int index = RegionTable.index(key);
		if (index >= WindowDescriptor.RECORDS || length <= 0) {
			return false;
		}
		this.record = WindowDescriptor.record(index);
		this.generation = (long) LONGS.getAcquire(this.table, this.record);
		long offsetInWindow = address - this.table.getLong(this.record + WindowDescriptor.ADDRESS);
		long windowBytes = this.table.getInt(this.record + WindowDescriptor.LENGTH);
		long grantee = this.table.getLong(this.record + WindowDescriptor.GRANTEE);
		long pool = this.table.getLong(this.record + WindowDescriptor.POOL);
		long extent = this.table.getLong(this.record + WindowDescriptor.EXTENT);
		long base = this.table.getLong(this.record + WindowDescriptor.OFFSET);
		boolean open = this.table.getInt(this.record + WindowDescriptor.KEY) == key && (this.generation & 1) != 0
				&& isStillOpen();
		if (!open || (grantee != this.grantNumber && grantee != this.domainNumber)
				|| !isWithin(offsetInWindow, length, windowBytes)) {
			return false;
		}
		ByteBuffer mapped = this.extents.find(pool, extent);
		if (mapped == null || !isWithin(base, windowBytes, mapped.capacity() - ExtentOrigin.SEAL_BYTES)) {
			return false;
		}
		this.memory = mapped;
		this.seal = ExtentOrigin.seal(pool, extent);
		this.offset = (int) (base + offsetInWindow);
		return true;
	}

	private static boolean isWithin(long offset, long length, long whole) {
		return offset >= 0 && length >= 0 && length <= whole && offset <= whole - length;
	}

	/** Where the bytes of the open window lie, from {@link #offset()}. */
	@SuppressWarnings("NullAway") // a window is open
	ByteBuffer memory() {
		return this.memory;
	}

	/** Where in {@link #memory()} the bytes begin. */
	int offset() {
		return this.offset;
	}

	/** Whether the window was open until now, and all that was read of it counts. */
	boolean isStillOpen() {
		VarHandle.loadLoadFence();
		return (long) LONGS.getOpaque(this.table, this.record) == this.generation;
	}

	/** Whether the memory of the open window is all there; what was read of it was. */
	boolean isWhole() {
		ByteBuffer mapped = memory();
		VarHandle.loadLoadFence();
		return mapped.getLong(mapped.capacity() - ExtentOrigin.SEAL_BYTES) == this.seal;
	}

	/** Lets go of the memory of the open window. */
	void close() {
		this.memory = null;
	}

}
