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

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.memory.MemoryAttachment;
import dev.rdmarpc.memory.RegisteredBuffer;
import dev.rdmarpc.memory.RegisteredMemory;
import dev.rdmarpc.verbs.PostResult;
import dev.rdmarpc.verbs.SharedReceiveQueue;
import dev.rdmarpc.verbs.WorkRequest;

/**
 * The receive buffers of a loop: as many are posted to the shared receive queue as have
 * been promised to peers. A buffer that a handler keeps is replaced by a fresh one; when
 * memory is short the replacement is owed, and the peer's credit with it, until there is
 * memory again.
 *
 * <p>
 * Confined to the loop's driver.
 */
final class ReceivePool {

	private final SharedReceiveQueue queue;

	private final RegisteredMemory memory;

	private final MemoryAttachment attachment;

	private final int frameBytes;

	private final int capacity;

	private final WorkRequest request = new WorkRequest(1);

	private final ArrayDeque<RpcChannel> creditsOwed = new ArrayDeque<>();

	private @Nullable RegisteredBuffer[] slots = new RegisteredBuffer[64];

	private int[] freeSlots = new int[64];

	private int freeCount;

	private int usedSlots;

	private int posted;

	private int promised;

	ReceivePool(SharedReceiveQueue queue, RegisteredMemory memory, MemoryAttachment attachment, int frameBytes,
			int capacity) {
		this.queue = queue;
		this.memory = memory;
		this.attachment = attachment;
		this.frameBytes = frameBytes;
		this.capacity = capacity;
	}

	/**
	 * Posts receives for a new peer.
	 * @return whether there was room and memory for all of them; if not nothing changes
	 */
	boolean promise(int receives) {
		if (this.promised + receives > this.capacity) {
			return false;
		}
		List<RegisteredBuffer> claimed = new ArrayList<>();
		while (this.posted + claimed.size() < this.promised + receives) {
			RegisteredBuffer buffer = this.memory.tryAllocate(this.frameBytes);
			if (buffer == null) {
				claimed.forEach(RegisteredBuffer::release);
				return false;
			}
			claimed.add(buffer);
		}
		this.promised += receives;
		claimed.forEach(this::post);
		return true;
	}

	/** A peer has gone: buffers are given back as they turn up. */
	void forget(RpcChannel channel, int receives) {
		this.promised -= receives;
		this.creditsOwed.removeIf((owed) -> owed == channel);
	}

	/** Takes the buffer of a completed receive. */
	RegisteredBuffer take(long slot) {
		int index = (int) slot;
		RegisteredBuffer buffer = this.slots[index];
		if (buffer == null) {
			throw new IllegalStateException("receive " + slot + " completed twice");
		}
		this.slots[index] = null;
		this.freeSlots[this.freeCount++] = index;
		this.posted--;
		return buffer;
	}

	/**
	 * Posts a buffer again, or gives it back when enough are posted without it: what was
	 * posted for peers that have gone serves those that stay.
	 * @param channel whose receive it was; its peer gets the credit back either way
	 */
	void giveBack(RegisteredBuffer buffer, RpcChannel channel) {
		if (this.posted < this.promised) {
			post(buffer);
		}
		else {
			buffer.release();
		}
		channel.receiveReturned();
	}

	/** Replaces a buffer that somebody has taken. */
	void replace(RpcChannel channel) {
		if (this.posted < this.promised) {
			RegisteredBuffer buffer = this.memory.tryAllocate(this.frameBytes);
			if (buffer == null) {
				this.creditsOwed.add(channel);
				return;
			}
			post(buffer);
		}
		channel.receiveReturned();
	}

	/** Tries again to replace what could not be replaced before. */
	void replenish() {
		while (!this.creditsOwed.isEmpty()) {
			if (this.posted < this.promised) {
				RegisteredBuffer buffer = this.memory.tryAllocate(this.frameBytes);
				if (buffer == null) {
					return;
				}
				post(buffer);
			}
			this.creditsOwed.remove().receiveReturned();
		}
	}

	private void post(RegisteredBuffer buffer) {
		int slot = (this.freeCount > 0) ? this.freeSlots[--this.freeCount] : nextSlot();
		this.slots[slot] = buffer;
		this.request.receive(slot);
		this.request.addSegment(buffer.region(this.attachment), buffer.regionOffset(), this.frameBytes);
		if (this.queue.postReceive(this.request) != PostResult.POSTED) {
			throw new IllegalStateException("shared receive queue full with " + this.posted + " receives");
		}
		this.posted++;
	}

	private int nextSlot() {
		if (this.usedSlots == this.slots.length) {
			this.slots = Arrays.copyOf(this.slots, this.usedSlots * 2);
			this.freeSlots = Arrays.copyOf(this.freeSlots, this.usedSlots * 2);
		}
		return this.usedSlots++;
	}

	int posted() {
		return this.posted;
	}

	int promised() {
		return this.promised;
	}

	/** Gives all buffers back; the shared receive queue is closed already. */
	void close() {
		for (int slot = 0; slot < this.usedSlots; slot++) {
			RegisteredBuffer buffer = this.slots[slot];
			if (buffer != null) {
				this.slots[slot] = null;
				buffer.release();
			}
		}
		this.posted = 0;
		this.promised = 0;
		this.creditsOwed.clear();
	}

}
