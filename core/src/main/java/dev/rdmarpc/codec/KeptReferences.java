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

package dev.rdmarpc.codec;

import java.util.Arrays;
import java.util.Objects;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.memory.RegisteredBuffer;

/**
 * References owned by a message, given back all at once. One that there is no room for is
 * given back at once, so that whoever hands one over need not care for it any more.
 */
final class KeptReferences {

	private static final int FIRST_LENGTH = 4;

	private static final int MOST_LENGTH = 256;

	private static final RegisteredBuffer[] NO_BUFFERS = {};

	private static final SegmentOwner[] NO_OWNERS = {};

	private @Nullable RegisteredBuffer[] buffers = NO_BUFFERS;

	private int bufferCount;

	private @Nullable SegmentOwner[] owners = NO_OWNERS;

	private int ownerCount;

	/** Takes ownership of a reference. */
	void add(RegisteredBuffer buffer) {
		if (this.bufferCount == this.buffers.length) {
			try {
				this.buffers = Arrays.copyOf(this.buffers, Math.max(FIRST_LENGTH, 2 * this.bufferCount));
			}
			catch (Throwable ex) {
				buffer.release();
				throw ex;
			}
		}
		this.buffers[this.bufferCount] = buffer;
		this.bufferCount++;
	}

	/** Takes ownership of a reference. */
	void add(SegmentOwner owner) {
		if (this.ownerCount == this.owners.length) {
			try {
				this.owners = Arrays.copyOf(this.owners, Math.max(FIRST_LENGTH, 2 * this.ownerCount));
			}
			catch (Throwable ex) {
				owner.release();
				throw ex;
			}
		}
		this.owners[this.ownerCount] = owner;
		this.ownerCount++;
	}

	/** Whether there are none. */
	boolean isEmpty() {
		return this.bufferCount == 0 && this.ownerCount == 0;
	}

	/** Gives up ownership of all of them. */
	void forget() {
		Arrays.fill(this.buffers, 0, this.bufferCount, null);
		Arrays.fill(this.owners, 0, this.ownerCount, null);
		this.bufferCount = 0;
		this.ownerCount = 0;
		shrink();
	}

	/** Keeps no large arrays for a next message that will hardly need them. */
	private void shrink() {
		if (this.buffers.length > MOST_LENGTH) {
			this.buffers = NO_BUFFERS;
		}
		if (this.owners.length > MOST_LENGTH) {
			this.owners = NO_OWNERS;
		}
	}

	/**
	 * Gives all references back.
	 * @throws IllegalStateException if somebody else gave one of them back already; the
	 * others are given back all the same
	 */
	void releaseAll() {
		IllegalStateException failure = null;
		while (!isEmpty()) {
			try {
				releaseEach();
			}
			catch (IllegalStateException ex) {
				failure = ex;
			}
		}
		shrink();
		if (failure != null) {
			throw failure;
		}
	}

	private void releaseEach() {
		while (this.bufferCount > 0) {
			this.bufferCount--;
			RegisteredBuffer buffer = Objects.requireNonNull(this.buffers[this.bufferCount]);
			this.buffers[this.bufferCount] = null;
			buffer.release();
		}
		while (this.ownerCount > 0) {
			this.ownerCount--;
			SegmentOwner owner = Objects.requireNonNull(this.owners[this.ownerCount]);
			this.owners[this.ownerCount] = null;
			owner.release();
		}
	}

}
