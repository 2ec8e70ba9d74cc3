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

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.memory.RegisteredBuffer;

/**
 * The registered memory that a message lies in. Where there is plenty, the object keeps a
 * little of it for the next message, as long as it is reused: a small message then costs
 * no allocation.
 */
abstract class BufferedMessage extends CountedMessage {

	/** How much is kept: a small call with its headers and what is traced of it. */
	static final int KEPT_BYTES = 256;

	private @Nullable RegisteredBuffer buffer;

	private @Nullable RegisteredBuffer kept;

	/** What was kept, if it is enough; the message owns it still. */
	final @Nullable RegisteredBuffer kept(int bytes) {
		return (bytes <= KEPT_BYTES) ? this.kept : null;
	}

	/**
	 * The message begins.
	 * @param claimed takes ownership, unless it is what was kept
	 */
	final void liesIn(RegisteredBuffer claimed) {
		this.buffer = claimed;
	}

	/**
	 * Gives the memory back that the message was in.
	 * @param other takes ownership
	 */
	final void movesTo(RegisteredBuffer other) {
		RegisteredBuffer before = memory();
		this.buffer = other;
		if (before != this.kept) {
			before.release();
		}
	}

	/**
	 * The message ends: its memory is given back, or kept.
	 * @param keeps whether some may be kept; otherwise all is given back
	 */
	final void ends(boolean keeps) {
		RegisteredBuffer before = memory();
		this.buffer = null;
		if (!keeps) {
			forgetMemory(before);
		}
		else if (this.kept == null && before.length() == KEPT_BYTES) {
			this.kept = before;
		}
		else if (before != this.kept) {
			before.release();
		}
	}

	/**
	 * Gives all memory back, of a message that has ended or was not made.
	 * @param claimed what it was to lie in, if that was claimed
	 */
	final void forgetMemory(@Nullable RegisteredBuffer claimed) {
		RegisteredBuffer before = this.kept;
		this.buffer = null;
		this.kept = null;
		if (claimed != null && claimed != before) {
			claimed.release();
		}
		if (before != null) {
			before.release();
		}
	}

	final RegisteredBuffer memory() {
		RegisteredBuffer current = this.buffer;
		if (current == null) {
			throw new IllegalStateException("message used after it was given back");
		}
		return current;
	}

}
