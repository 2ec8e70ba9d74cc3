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

package dev.rdmarpc.verbs;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Set;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.verbs.MemorySource.ProvidedMemory;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Registered memory between two guard zones that no peer may ever touch. Guards and
 * content are filled with a backdrop that depends on seed and position, so that every
 * stray byte shows.
 */
final class GuardedMemory implements AutoCloseable {

	private static final int GUARD_BYTES = 4096;

	private static final int PAGE_BYTES = 4096;

	private final ByteBuffer whole;

	private final int start;

	private final int length;

	private final long seed;

	private final MemoryRegion region;

	GuardedMemory(@Nullable MemorySource source, ProtectionDomain domain, int length, int misalignment, long seed,
			Set<AccessFlag> access) {
		this(source, (memory, origin) -> (origin != null) ? domain.registerProvided(memory, access, origin)
				: domain.registerMemory(memory, access), length, misalignment, seed);
	}

	GuardedMemory(@Nullable MemorySource source, Registration registration, int length, int misalignment, long seed) {
		this.start = GUARD_BYTES + misalignment;
		this.length = length;
		this.seed = seed;
		int end = this.start + length;
		int all = end + GUARD_BYTES + PAGE_BYTES - 1 & -PAGE_BYTES;
		ProvidedMemory provided = (source != null) ? source.tryAllocate(all) : null;
		ByteBuffer bytes = (provided != null) ? provided.memory() : ByteBuffer.allocateDirect(all);
		this.whole = bytes.order(ByteOrder.LITTLE_ENDIAN);
		drawBackdrop();
		this.region = registration.register(this.whole.duplicate().limit(end).position(this.start),
				(provided != null) ? provided.origin() : null);
	}

	private void drawBackdrop() {
		for (int i = 0; i < this.whole.capacity(); i += Long.BYTES) {
			this.whole.putLong(i, backdrop(i));
		}
	}

	/** The finalizer of SplitMix64. */
	private long backdrop(int position) {
		long z = this.seed + position * 0x9E3779B97F4A7C15L;
		z = (z ^ (z >>> 30)) * 0xBF58476D1CE4E5B9L;
		z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
		return z ^ (z >>> 31);
	}

	MemoryRegion region() {
		return this.region;
	}

	int lengthBytes() {
		return this.length;
	}

	Segment all() {
		return segment(0, this.length);
	}

	Segment segment(int offset, int lengthBytes) {
		return new Segment(this.region, offset, lengthBytes);
	}

	RemoteRegion remote() {
		return this.region.remoteRegion(0, this.length);
	}

	/** A view of part of the content, of its own position and limit. */
	ByteBuffer view(int offset, int lengthBytes) {
		return this.whole.slice(this.start + offset, lengthBytes).order(ByteOrder.LITTLE_ENDIAN);
	}

	ByteBuffer view() {
		return view(0, this.length);
	}

	/** Draws the backdrop again, forgetting what has been placed. */
	GuardedMemory reset() {
		drawBackdrop();
		return this;
	}

	/** Asserts that these bytes are those of another piece of memory. */
	void assertHolds(int offset, GuardedMemory source, int sourceOffset, int lengthBytes) {
		assertHolds(offset, source.view(sourceOffset, lengthBytes));
	}

	void assertHolds(int offset, ByteBuffer expected) {
		ByteBuffer actual = view(offset, expected.remaining());
		int difference = actual.mismatch(expected);
		if (difference >= 0) {
			throw new AssertionError("byte " + difference + " of " + expected.remaining() + " at offset " + offset
					+ " is " + actual.get(difference) + " (expected: " + expected.get(expected.position() + difference)
					+ ")" + (isBackdrop(offset + difference) ? ", never written" : ""));
		}
	}

	/** Asserts that the content is as it was drawn, except in these places. */
	void assertUntouchedExcept(Segment... places) {
		Segment[] sorted = places.clone();
		Arrays.sort(sorted, Comparator.comparingInt(Segment::offsetBytes));
		int from = 0;
		for (Segment place : sorted) {
			assertThat(place.region()).isSameAs(this.region);
			assertBackdrop("content", this.start + from, this.start + place.offsetBytes());
			from = Math.max(from, place.offsetBytes() + place.lengthBytes());
		}
		assertBackdrop("content", this.start + from, this.start + this.length);
	}

	void assertUntouched() {
		assertUntouchedExcept();
	}

	void assertGuardsIntact() {
		assertBackdrop("guard before the region", 0, this.start);
		assertBackdrop("guard after the region", this.start + this.length, this.whole.capacity());
	}

	private boolean isBackdrop(int offset) {
		int position = this.start + offset;
		return this.whole.get(position) == backdropByte(position);
	}

	private byte backdropByte(int position) {
		return (byte) (backdrop(position & ~7) >>> ((position & 7) * 8));
	}

	private void assertBackdrop(String what, int from, int to) {
		int position = from;
		while (position < to) {
			if ((position & 7) == 0 && position + Long.BYTES <= to
					&& this.whole.getLong(position) == backdrop(position)) {
				position += Long.BYTES;
				continue;
			}
			if (this.whole.get(position) != backdropByte(position)) {
				throw new AssertionError("foreign byte in " + what + " of " + this.length + " bytes, at offset "
						+ (position - this.start) + " of the region");
			}
			position++;
		}
	}

	@Override
	public void close() {
		this.region.close();
	}

	/** How the memory is registered. */
	@FunctionalInterface
	interface Registration {

		MemoryRegion register(ByteBuffer memory, @Nullable MemoryOrigin origin);

	}

}
