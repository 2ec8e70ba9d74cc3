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

package dev.rdmarpc.flatbuffers;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

import dev.rdmarpc.codec.SegmentOwner;
import dev.rdmarpc.memory.RegisteredBuffer;

/**
 * Registered memory that the small parts of several messages lie in. Its arena counts the
 * messages that use it, and lives in it until it {@linkplain #retire() retires} it; then
 * the last message gives it back.
 *
 * <h2>Implementation notes</h2>
 *
 * <p>
 * Uses are counted by the arena's thread alone, without atomic operations; ends of uses
 * are counted down from a bias by any thread. Retiring takes the bias off and adds the
 * uses, so that whoever then gets to 0 is the last. While the arena lives in the chunk,
 * as many ends as uses mean that nobody uses it, and nobody can begin to but the arena.
 */
final class ScratchChunk implements SegmentOwner {

	private static final int BIAS = 1 << 30;

	private static final VarHandle COUNTER;

	static {
		try {
			COUNTER = MethodHandles.lookup().findVarHandle(ScratchChunk.class, "counter", int.class);
		}
		catch (ReflectiveOperationException ex) {
			throw new ExceptionInInitializerError(ex);
		}
	}

	private final RegisteredBuffer buffer;

	private int uses;

	@SuppressWarnings("unused") // through COUNTER
	private volatile int counter = BIAS;

	/** Takes ownership of the buffer. */
	ScratchChunk(RegisteredBuffer buffer) {
		this.buffer = buffer;
	}

	/** The memory. */
	RegisteredBuffer buffer() {
		return this.buffer;
	}

	/** Counts a message that uses it; arena only. */
	ScratchChunk use() {
		this.uses++;
		return this;
	}

	/**
	 * Whether no message uses it any more, which makes the count begin anew; arena only.
	 */
	boolean isUnused() {
		if (BIAS - (int) COUNTER.getAcquire(this) != this.uses) {
			return false;
		}
		if (this.uses > BIAS / 2) {
			this.uses = 0;
			COUNTER.setRelease(this, BIAS);
		}
		return true;
	}

	/** Ends a use; any thread. */
	@Override
	public boolean release() {
		return end(-1);
	}

	/** The arena leaves; arena only. */
	void retire() {
		end(this.uses - BIAS);
	}

	private boolean end(int change) {
		boolean last = (int) COUNTER.getAndAdd(this, change) + change == 0;
		if (last) {
			this.buffer.release();
		}
		return last;
	}

}
