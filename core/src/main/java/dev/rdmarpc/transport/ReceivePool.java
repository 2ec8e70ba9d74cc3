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
import java.util.Iterator;
import java.util.Objects;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.memory.MemoryAttachment;
import dev.rdmarpc.memory.RegisteredBuffer;
import dev.rdmarpc.memory.RegisteredMemory;
import dev.rdmarpc.verbs.SharedReceiveQueue;
import dev.rdmarpc.verbs.WorkRequest;

/**
 * The receive buffers of a loop. What has been promised to peers is posted to the shared
 * receive queue, and a batch more, so that receives are posted a batch at a time and not
 * one by one. A buffer that a handler keeps is replaced by a fresh one; when memory is
 * short the replacement is owed, and the peer's credit with it, until there is memory
 * again.
 *
 * <p>
 * Implementation notes. A completed receive is one posted less. Its buffer waits among
 * the spares, and its credit is the peer's again as long as no fewer are posted than
 * promised; when they are, a batch is posted at once. So a credit in a peer's hands, on
 * its way there or owed to it always has a posted receive: {@code posted} is at least
 * {@code promised} less the receives being looked at and those whose credits are
 * withheld. When less is promised than before, those posted already serve other peers.
 * What is too much then is withdrawn at the next tick, where the device can do that, and
 * otherwise given back as it completes.
 *
 * <p>
 * Confined to the loop's driver.
 */
final class ReceivePool {

	/** How many are posted beyond what is promised, at least. */
	private static final int MIN_AHEAD = 4;

	/** At most: no more than the cache of a thread has at hand. */
	private static final int MAX_AHEAD = 16;

	private static final int MAX_BATCH = 64;

	private final SharedReceiveQueue queue;

	private final RegisteredMemory memory;

	private final MemoryAttachment attachment;

	private final SmallMemory own;

	private final int frameBytes;

	private final int capacity;

	private final WorkRequest[] requests = new WorkRequest[MAX_BATCH];

	private final long[] withdrawn = new long[MAX_BATCH];

	private final ArrayDeque<Peer> creditsWithheld = new ArrayDeque<>();

	private final ArrayList<RegisteredBuffer> spares = new ArrayList<>();

	private @Nullable RegisteredBuffer[] slots = new RegisteredBuffer[64];

	private int[] freeSlots = new int[64];

	private int freeCount;

	private int usedSlots;

	private int posted;

	private int promised;

	/** Whether the last attempt to claim memory has failed, until the next tick. */
	private boolean starved;

	/** The same for messages that were received together, which need less. */
	private boolean shortOfOwn;

	/**
	 * How many more the queue takes, once it has not taken all of a batch, until the next
	 * tick.
	 */
	private int room = Integer.MAX_VALUE;

	private long posts;

	private long replaced;

	ReceivePool(SharedReceiveQueue queue, RegisteredMemory memory, MemoryAttachment attachment, int frameBytes,
			int capacity) {
		this.queue = queue;
		this.memory = memory;
		this.attachment = attachment;
		this.own = new SmallMemory(memory);
		this.frameBytes = frameBytes;
		this.capacity = capacity;
		Arrays.setAll(this.requests, (i) -> new WorkRequest(1));
	}

	/**
	 * Promises receives to a peer, and posts what is missing for them.
	 * @return whether there was room and memory for all of them; if not nothing is
	 * promised
	 */
	boolean promise(int receives) {
		if (this.promised + receives > this.capacity) {
			return false;
		}
		reserve(this.promised + receives + MAX_BATCH);
		int before = this.spares.size();
		if (!claimAnew(this.promised + receives - this.posted)) {
			release(before);
			return false;
		}
		this.promised += receives;
		refill();
		if (this.posted < this.promised) {
			unpromise(receives);
			return false;
		}
		return true;
	}

	/**
	 * Makes room for so many receives, so that none is lost later for want of memory to
	 * note it down.
	 */
	private void reserve(int receives) {
		this.spares.ensureCapacity(receives);
		while (this.slots.length < receives) {
			@Nullable RegisteredBuffer[] more = Arrays.copyOf(this.slots, this.slots.length * 2);
			this.freeSlots = Arrays.copyOf(this.freeSlots, this.slots.length * 2);
			this.slots = more;
		}
	}

	/**
	 * Promises more to a peer that has some, unless memory is short: the last quarter is
	 * kept for messages.
	 * @return whether it was done
	 */
	boolean tryGrow(int receives) {
		long needed = this.memory.metrics().allocatedBytes() + (long) receives * this.frameBytes;
		return needed <= this.memory.options().maxBytes() / 4 * 3 && promise(receives);
	}

	/** Less is promised to a peer: buffers are given back as they turn up. */
	void unpromise(int receives) {
		this.promised -= receives;
		release(Math.max(0, target() - this.posted));
	}

	/** A peer has gone, to which so much was promised. */
	void forget(Peer peer, int receives) {
		for (Iterator<Peer> owed = this.creditsWithheld.iterator(); owed.hasNext();) {
			if (owed.next() == peer) {
				owed.remove();
			}
		}
		unpromise(receives);
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
		if (this.room < Integer.MAX_VALUE) {
			this.room++;
		}
		return buffer;
	}

	/**
	 * Keeps a buffer to be posted again, or gives it back when there are enough without
	 * it: what was posted for peers that have gone serves those that stay.
	 * @param peer whose receive it was; it gets the credit back either way
	 */
	void giveBack(RegisteredBuffer buffer, Peer peer) {
		if (this.posted + this.spares.size() < target()) {
			this.spares.add(buffer);
		}
		else {
			buffer.release();
		}
		returnCredit(peer);
	}

	/**
	 * Whether the buffer of a receive being looked at can be kept by somebody: there is
	 * another in its place.
	 */
	boolean canReplace() {
		return this.posted >= this.promised || claim(1);
	}

	/**
	 * Claims memory for a message that was received together with others.
	 * @return of at least that length, owned by the caller, or {@code null} if there is
	 * none; it is then not asked for again before the next tick
	 */
	@Nullable RegisteredBuffer claimOwn(int bytes) {
		RegisteredBuffer own = this.shortOfOwn ? null : this.own.claim(bytes);
		this.shortOfOwn = own == null;
		return own;
	}

	/** Replaces a buffer that somebody has taken. */
	void replace(Peer peer) {
		this.replaced++;
		returnCredit(peer);
	}

	private void returnCredit(Peer peer) {
		refill();
		if (this.creditsWithheld.isEmpty() && this.posted >= this.promised) {
			peer.receiveReturned();
		}
		else if (!peer.isGone()) {
			this.creditsWithheld.add(peer);
			payCredits();
		}
	}

	/**
	 * Tries again to replace what could not be replaced before, and has the next batch at
	 * hand; at every tick.
	 */
	void replenish() {
		this.starved = false;
		this.shortOfOwn = false;
		if (this.memory.isAwaited()) {
			this.own.close();
		}
		this.room = Integer.MAX_VALUE;
		withdraw();
		refill();
		claim(target() - this.posted);
		payCredits();
	}

	/** Takes back what was posted for peers that have gone. */
	private void withdraw() {
		int count = excess();
		while (count > 0) {
			int taken = this.queue.withdrawReceives(this.withdrawn, count);
			for (int i = 0; i < taken; i++) {
				take(this.withdrawn[i]).release();
			}
			count = (taken < count) ? 0 : excess();
		}
	}

	/**
	 * How many receives the queue has too many: those that have completed and were not
	 * looked at yet are not in it any more.
	 */
	private int excess() {
		return Math.min(Math.min(this.posted, this.queue.posted()) - target(), MAX_BATCH);
	}

	/** Whether fewer are posted than promised. */
	boolean isShort() {
		return this.posted < this.promised;
	}

	private void payCredits() {
		while (this.creditsWithheld.size() > Math.max(0, this.promised - this.posted)) {
			this.creditsWithheld.remove().receiveReturned();
		}
	}

	private int target() {
		int ahead = Math.min(MAX_AHEAD, Math.max(MIN_AHEAD, this.promised / 4));
		return (this.promised == 0) ? 0 : Math.min(this.capacity, this.promised + ahead);
	}

	/** Posts a batch, as far as there is memory, once fewer are posted than promised. */
	private void refill() {
		if (this.posted < this.promised) {
			int missing = target() - this.posted;
			claim(missing);
			for (int count = batch(missing); count > 0; count = batch(missing)) {
				missing -= post(count);
			}
		}
	}

	private int batch(int missing) {
		return Math.min(Math.min(missing, MAX_BATCH), Math.min(this.spares.size(), this.room));
	}

	/**
	 * Claims memory until there are so many spares; tells whether there are. Where there
	 * was none it is not asked for again before the next tick: that would make every
	 * frame search all of it.
	 */
	private boolean claim(int count) {
		if (!this.starved) {
			this.starved = !claimAnew(count);
		}
		return this.spares.size() >= count;
	}

	private boolean claimAnew(int count) {
		while (this.spares.size() < count) {
			RegisteredBuffer buffer = this.memory.tryAllocate(this.frameBytes);
			if (buffer == null) {
				return false;
			}
			this.spares.add(buffer);
		}
		return true;
	}

	private void release(int remaining) {
		while (this.spares.size() > remaining) {
			this.spares.remove(this.spares.size() - 1).release();
		}
	}

	/** Posts so many spares, or fewer if the queue has no memory to note more down. */
	private int post(int count) {
		for (int i = 0; i < count; i++) {
			RegisteredBuffer buffer = this.spares.remove(this.spares.size() - 1);
			int slot = (this.freeCount > 0) ? this.freeSlots[--this.freeCount] : this.usedSlots++;
			this.slots[slot] = buffer;
			this.requests[i].receive(slot)
				.addSegment(buffer.region(this.attachment), buffer.regionOffset(), this.frameBytes);
		}
		int taken = this.queue.postReceives(this.requests, count);
		for (int i = taken; i < count; i++) {
			int slot = (int) this.requests[i].id();
			this.spares.add(Objects.requireNonNull(this.slots[slot]));
			this.slots[slot] = null;
			this.freeSlots[this.freeCount++] = slot;
		}
		if (taken < count) {
			this.room = 0;
		}
		else if (this.room < Integer.MAX_VALUE) {
			this.room -= taken;
		}
		this.posted += taken;
		this.posts++;
		return taken;
	}

	/** Receives in the queue. */
	int posted() {
		return this.posted;
	}

	/** Receives that peers may use, know of or not. */
	int promised() {
		return this.promised;
	}

	/** Calls that posted receives. */
	long posts() {
		return this.posts;
	}

	/** Receives replaced because their buffer went with the message. */
	long replaced() {
		return this.replaced;
	}

	/** Memory of what is posted or about to be, in bytes. */
	long memoryBytes() {
		return (long) (this.posted + this.spares.size()) * this.frameBytes;
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
		release(0);
		this.own.close();
		this.posted = 0;
		this.promised = 0;
		this.creditsWithheld.clear();
	}

	/** Whom receives are promised to. */
	interface Peer {

		/** A receive that it had used is posted again, or another in its place. */
		void receiveReturned();

		/** Whether its connection is over, so that it is owed nothing. */
		boolean isGone();

	}

}
