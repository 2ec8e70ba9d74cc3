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

package dev.rdmarpc.verbs.iwarp.rdmap;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ScatteringByteChannel;
import java.util.Arrays;
import java.util.zip.CRC32C;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.verbs.support.RegisteredMemory;

/**
 * Where the payload of the inbound segment at hand goes: pieces of registered memory,
 * each checked before it was added. Guarded by the reactor's lock.
 *
 * <p>
 * The payload is either copied at once ({@link #copyFrom}), or the pieces are opened and
 * filled over several steps from the staging buffer and from the socket.
 */
final class Placement {

	private final @Nullable RegisteredMemory[] regions;

	private final int[] offsets;

	private final int[] lengths;

	private final ByteBuffer[] vectors;

	private int count;

	private int first;

	Placement(int maxPieces) {
		this.regions = new RegisteredMemory[maxPieces];
		this.offsets = new int[maxPieces];
		this.lengths = new int[maxPieces];
		this.vectors = new ByteBuffer[maxPieces + ReadAhead.MOST_VECTORS];
	}

	void add(RegisteredMemory region, int offset, int length) {
		this.regions[this.count] = region;
		this.offsets[this.count] = offset;
		this.lengths[this.count] = length;
		this.count++;
	}

	/** Forgets the pieces; they are not open. */
	void clear() {
		if (this.count > 0) {
			Arrays.fill(this.regions, 0, this.count, null);
			this.count = 0;
		}
	}

	/** Whether all memory is still registered. */
	boolean isValid() {
		for (int i = 0; i < this.count; i++) {
			if (!region(i).isValid()) {
				return false;
			}
		}
		return true;
	}

	void copyFrom(ByteBuffer in, int position) {
		int from = position;
		for (int i = 0; i < this.count; i++) {
			region(i).memory().put(this.offsets[i], in, from, this.lengths[i]);
			from += this.lengths[i];
		}
	}

	/** Makes the pieces ready to be filled step by step. */
	void open() {
		this.first = 0;
		for (int i = 0; i < this.count; i++) {
			this.vectors[i] = region(i).acquireView(this.offsets[i], this.lengths[i]);
		}
	}

	/** Fills the next bytes from a buffer; {@code in} has no more than fit. */
	void fill(ByteBuffer in) {
		int end = in.limit();
		while (in.position() < end) {
			ByteBuffer target = this.vectors[this.first];
			in.limit(Math.min(end, in.position() + target.remaining()));
			target.put(in);
			in.limit(end);
			skipFilled();
		}
	}

	/** Fills the next bytes from a socket, and {@code behind} with those that follow. */
	long read(ScatteringByteChannel channel, ByteBuffer[] behind, int behindCount) throws IOException {
		System.arraycopy(behind, 0, this.vectors, this.count, behindCount);
		long read = channel.read(this.vectors, this.first, this.count + behindCount - this.first);
		skipFilled();
		return read;
	}

	/** Takes the first bytes of the only piece for filled: they are there already. */
	void filled(int bytes) {
		ByteBuffer only = this.vectors[this.first];
		only.position(only.position() + bytes);
		skipFilled();
	}

	private void skipFilled() {
		while (this.first < this.count && !this.vectors[this.first].hasRemaining()) {
			this.first++;
		}
	}

	/** Adds the bytes of all pieces, filled completely, to a CRC. */
	void updateCrc(CRC32C crc) {
		for (int i = 0; i < this.count; i++) {
			crc.update(this.vectors[i].position(this.offsets[i]));
		}
	}

	/** Gives the open pieces back and forgets them. */
	void close() {
		for (int i = 0; i < this.count; i++) {
			region(i).releaseView(this.vectors[i]);
		}
		clear();
	}

	@SuppressWarnings("NullAway") // an open piece has its region
	private RegisteredMemory region(int index) {
		return this.regions[index];
	}

}
