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

import dev.rdmarpc.verbs.support.RegisteredMemory;

/**
 * The window table of a device, for who writes it: tells peers that are trusted where
 * those regions lie that they may read.
 *
 * <p>
 * Not thread-safe: guarded by the monitor of the {@link RegionTable}.
 *
 * <p>
 * Implementation notes. Each record is a sequence lock. Its owner never waits for
 * readers: they only read, and what they have read counts if the record has not changed
 * since they began. The generation is made even before anything else changes, in the
 * record or in the memory that it tells of, and odd after the record is whole. A fence
 * keeps what is written later, by whoever gets the memory next, behind the former.
 */
public final class WindowTable {

	private static final VarHandle LONGS = MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.nativeOrder());

	private final ByteBuffer bytes;

	/**
	 * Creates a table without regions.
	 * @param bytes mapped, zeros
	 */
	public WindowTable(ByteBuffer bytes) {
		this.bytes = bytes.order(ByteOrder.nativeOrder());
		bytes.putLong(WindowDescriptor.RECORDS_WORD, WindowDescriptor.RECORDS);
		bytes.putLong(WindowDescriptor.MAGIC_WORD, WindowDescriptor.MAGIC);
	}

	/** Shows a region, if peers may read it and know where it lies. */
	void publish(int index, RegisteredMemory region) {
		Object whom = (region.borrower() != null) ? region.borrower() : region.protectionDomain();
		if (index < WindowDescriptor.RECORDS && region.remoteReadable()
				&& region.origin() instanceof ExtentOrigin origin && whom instanceof Grantee grantee) {
			int at = WindowDescriptor.record(index);
			this.bytes.putInt(at + WindowDescriptor.KEY, region.remoteKey());
			this.bytes.putInt(at + WindowDescriptor.LENGTH, region.lengthBytes());
			this.bytes.putLong(at + WindowDescriptor.ADDRESS, region.remoteAddress());
			this.bytes.putLong(at + WindowDescriptor.GRANTEE, grantee.grantNumber());
			this.bytes.putLong(at + WindowDescriptor.POOL, origin.pool());
			this.bytes.putLong(at + WindowDescriptor.EXTENT, origin.extent());
			this.bytes.putLong(at + WindowDescriptor.OFFSET, region.originOffset());
			LONGS.setRelease(this.bytes, at, generation(at) + 1);
		}
	}

	/** Hides the region under an index, if it is shown. */
	void revoke(int index) {
		if (index < WindowDescriptor.RECORDS) {
			int at = WindowDescriptor.record(index);
			long generation = generation(at);
			if ((generation & 1) != 0) {
				LONGS.setOpaque(this.bytes, at, generation + 1);
				VarHandle.fullFence();
			}
		}
	}

	private long generation(int at) {
		return (long) LONGS.getOpaque(this.bytes, at + WindowDescriptor.GENERATION);
	}

}
