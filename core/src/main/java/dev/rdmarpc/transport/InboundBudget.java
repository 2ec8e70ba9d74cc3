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

import java.util.ArrayList;
import java.util.List;
import java.util.function.ToLongFunction;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.memory.RegisteredBuffer;
import dev.rdmarpc.memory.RegisteredMemory;

/**
 * The memory that the unfinished messages of a loop's peers may take. An eighth of all
 * memory is left to everything else. When the rest is used up, what a peer needs is taken
 * from the one that holds the most, as long as that holds more: so each can have a fair
 * share, however many others want everything.
 *
 * <p>
 * Implementation notes. What is in use is counted by the memory, for all loops and all
 * purposes; summing that up takes too long for every message, so what was free at the
 * last look is used up first. Every tick looks again. Memory into which Reads are under
 * way cannot be taken from a peer; but a peer that does not answer them is given up while
 * memory is short. It is short as well where the process or a device has less than the
 * pool may have, which shows when it cannot grow.
 *
 * <p>
 * Confined to the loop's driver.
 */
final class InboundBudget {

	/** How long a peer may leave Reads unanswered while memory is short. */
	static final long STALL_NANOS = 1_000_000_000;

	/** Unfinished messages of a loop that are remembered; that takes heap. */
	static final int MAX_MESSAGES = 1 << 17;

	/** So many peers are looked at at every tick; more less often. */
	private static final int FEW_HOLDERS = 500;

	/** For each peer beyond that. */
	private static final long COUNT_NANOS = 100_000;

	private final RegisteredMemory memory;

	private final List<Holder> holders = new ArrayList<>();

	private final long maxBytes;

	private final int maxMessages;

	private long freeBytes;

	private long countedNanos;

	/** Whether there was no memory, since the last tick, although some was free. */
	private boolean refused;

	/**
	 * Creates a budget.
	 * @param maxMessages begun and not finished by all peers
	 */
	InboundBudget(RegisteredMemory memory, int maxMessages) {
		this.memory = memory;
		this.maxBytes = memory.options().maxBytes() / 8 * 7;
		this.maxMessages = maxMessages;
	}

	/** Counts a peer in. */
	void add(Holder holder) {
		this.holders.add(holder);
	}

	/** Forgets a peer. */
	void remove(Holder holder) {
		this.holders.remove(holder);
	}

	/**
	 * Claims memory for an unfinished message.
	 * @return a buffer owned by the caller, or {@code null} if others have a better claim
	 */
	@Nullable RegisteredBuffer claim(Holder claimant, int bytes) {
		boolean room = hasRoom(bytes);
		while (!room && shed(claimant, bytes)) {
			room = hasRoom(bytes);
		}
		RegisteredBuffer buffer = room ? this.memory.tryAllocate(bytes)
				: this.memory.tryAllocate(bytes, this.memory.options().maxBytes() - this.maxBytes);
		if (buffer == null && room) {
			this.refused = true;
			buffer = shed(claimant, bytes) ? this.memory.tryAllocate(bytes) : null;
		}
		if (buffer != null) {
			this.freeBytes -= buffer.length();
		}
		return buffer;
	}

	private boolean hasRoom(int bytes) {
		if (bytes > this.freeBytes) {
			this.freeBytes = this.maxBytes - this.memory.metrics().allocatedBytes();
		}
		return bytes <= this.freeBytes;
	}

	/** Has the peer that holds the most give something up, if it holds more. */
	private boolean shed(Holder claimant, int bytes) {
		Holder most = most(Holder::droppableBytes);
		return most != null && most != claimant && most.droppableBytes() > claimant.heldBytes() + bytes
				&& most.shed(bytes);
	}

	/**
	 * Looks how much is in use. If there is little left, the peer is given up that holds
	 * the most of it and answers no Reads; if more messages are unfinished than the heap
	 * should remember, the one that has begun the most.
	 */
	void tick(long nowNanos) {
		long allocated = this.memory.metrics().allocatedBytes();
		this.freeBytes = this.maxBytes - allocated;
		boolean scarce = this.refused || allocated > this.maxBytes / 8 * 7;
		this.refused = false;
		if (scarce) {
			Holder worst = most((holder) -> holder.stalledBytes(nowNanos - STALL_NANOS));
			if (worst != null) {
				worst.giveUp("memory is short, and the peer does not answer Reads");
			}
		}
		if (nowNanos - this.countedNanos < (this.holders.size() - FEW_HOLDERS) * COUNT_NANOS) {
			return;
		}
		this.countedNanos = nowNanos;
		long messages = 0;
		for (int i = 0; i < this.holders.size(); i++) {
			messages += this.holders.get(i).unfinished();
		}
		if (messages > this.maxMessages) {
			Holder worst = most(Holder::unfinished);
			if (worst != null) {
				worst.giveUp("too many messages are unfinished, and the peer has begun " + worst.unfinished());
			}
		}
	}

	private @Nullable Holder most(ToLongFunction<Holder> measure) {
		Holder most = null;
		long value = 0;
		for (int i = 0; i < this.holders.size(); i++) {
			long other = measure.applyAsLong(this.holders.get(i));
			if (other > value) {
				value = other;
				most = this.holders.get(i);
			}
		}
		return most;
	}

	/** A peer, by what it has begun. */
	interface Holder {

		/** Memory of its unfinished messages. */
		long heldBytes();

		/** Memory of those that can be dropped at once. */
		long droppableBytes();

		/** Memory of those of which it has answered no Read since then. */
		long stalledBytes(long sinceNanos);

		/** Its unfinished messages, those that are dropped included. */
		int unfinished();

		/**
		 * Drops messages until so much memory has been given back, or all of them.
		 * @return whether any was given back
		 */
		boolean shed(long bytes);

		/** Ends the connection to it. */
		void giveUp(String reason);

	}

}
