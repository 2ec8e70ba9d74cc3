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

import java.util.concurrent.atomic.AtomicReferenceArray;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.codec.HeapBudget;

/**
 * Readers kept for reuse by all threads, without thread-locals, which virtual threads
 * would fill.
 *
 * <h2>Implementation notes</h2>
 *
 * <p>
 * A slot holds a reader that nobody uses, or null. Taking swaps null in, so a reader has
 * one owner at a time; the swap and the later release store order the two owners' use of
 * it. Threads start at different slots; whoever finds a slot empty makes a new reader,
 * and whoever finds it full on return drops his.
 */
final class MessageReaders {

	private static final int SLOT_SPREAD = 16;

	private final FlatBuffersOptions options;

	private final HeapBudget heap;

	private final int mask;

	private final AtomicReferenceArray<@Nullable MessageReader> slots;

	MessageReaders(FlatBuffersOptions options) {
		this.options = options;
		this.heap = new HeapBudget(options.maxDecodedBytes());
		int count = Integer.highestOneBit(Math.max(1, Runtime.getRuntime().availableProcessors())) * 4;
		this.mask = count - 1;
		this.slots = new AtomicReferenceArray<>(count * SLOT_SPREAD);
	}

	/** What the values of messages may take at once. */
	HeapBudget heap() {
		return this.heap;
	}

	/** Takes a reader; give it back with {@link #release}. */
	MessageReader acquire() {
		MessageReader reader = this.slots.getAndSet(slot(), null);
		return (reader != null) ? reader
				: new MessageReader(new MessageVerifier(this.options.maxDepth(), this.options.maxAmplification()));
	}

	/** Gives a reader back. */
	void release(MessageReader reader) {
		reader.end();
		this.slots.setRelease(slot(), reader);
	}

	private int slot() {
		return ((int) Thread.currentThread().getId() & this.mask) * SLOT_SPREAD;
	}

}
