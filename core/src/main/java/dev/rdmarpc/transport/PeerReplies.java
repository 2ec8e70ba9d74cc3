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

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

import dev.rdmarpc.memory.Patience;

/**
 * What one peer has not taken yet of the replies to it, and of the messages of streams
 * that reply, over all its connections. The peer is a principal, or of those whom nobody
 * knows, all that have the same address. Thread-safe.
 *
 * <p>
 * Calls have ended when their replies are prepared, and count for no limit of calls any
 * more. So a peer that calls and does not read would be given all memory that there is.
 *
 * <p>
 * Implementation notes. Large messages are added before there is memory for them, and
 * never beyond the limit; those of a peer that reads wait for their turn, as they would
 * for memory. So that one that reads slowly, or not at all, does not keep all threads
 * waiting, nor all that they have made, only some of them wait; and nobody waits longer
 * than the timeout once nothing has moved for a second. {@link SmallReplies} adds what
 * the small ones have that wait, in steps and however much it is. A peer is full from
 * when something was refused until some of the rest has gone: so one that comes close to
 * its limit goes on calling. A flag set while the last bytes go lasts until the next ones
 * have gone, which it cannot keep from being added. Who removes bytes looks for waiters
 * after that, and a waiter looks for room after it has counted itself.
 */
public final class PeerReplies {

	/** How many threads wait for one peer. */
	static final int MOST_WAITING = 32;

	/** How often the limit the messages may have together for which threads wait. */
	private static final int WAITING_FACTOR = 2;

	private final String name;

	private final long limitBytes;

	private final Runnable emptied;

	private final AtomicLong bytes = new AtomicLong();

	private final ReentrantLock lock = new ReentrantLock();

	private final Condition gone = this.lock.newCondition();

	/** Changed while holding the lock. */
	private final AtomicInteger waiting = new AtomicInteger();

	/** Guarded by the lock. */
	private long waitingBytes;

	private volatile boolean full;

	/** When a large message was added, or something has gone, for the last time. */
	private volatile long movedNanos = System.nanoTime();

	/**
	 * Creates a count.
	 * @param name the peer's, for messages
	 * @param limitBytes as {@link PeerLimits#maxReplyBytes()}
	 * @param emptied runs whenever nothing is left; any thread
	 */
	PeerReplies(String name, long limitBytes, Runnable emptied) {
		this.name = name;
		this.limitBytes = limitBytes;
		this.emptied = emptied;
	}

	/**
	 * Adds a large message unless that is too much; the only one never is.
	 * @param patience how long to wait for others to go, unless many wait already
	 */
	boolean tryAdd(int more, Patience patience) {
		if (addWithin(more) || (patience.timeoutNanos() > 0 && awaitRoom(more, patience))) {
			return true;
		}
		this.full = true;
		return false;
	}

	private boolean awaitRoom(int more, Patience patience) {
		this.lock.lock();
		try {
			boolean many = this.waitingBytes + more > WAITING_FACTOR * this.limitBytes;
			if (this.waiting.get() >= MOST_WAITING || (many && this.waiting.get() > 0)) {
				return false;
			}
			this.waiting.incrementAndGet();
			this.waitingBytes += more;
			try {
				return awaitGone(more, patience);
			}
			finally {
				this.waiting.decrementAndGet();
				this.waitingBytes -= more;
			}
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			return false;
		}
		finally {
			this.lock.unlock();
		}
	}

	/** With the lock. */
	private boolean awaitGone(int more, Patience patience) throws InterruptedException {
		long begin = System.nanoTime();
		long now = begin;
		boolean added = addWithin(more);
		while (!added) {
			long left = patience.leftNanos(patience.longestNanos(), now - begin, now - this.movedNanos);
			if (left <= 0) {
				return false;
			}
			this.gone.awaitNanos(left);
			now = System.nanoTime();
			added = addWithin(more);
		}
		return true;
	}

	private boolean addWithin(int more) {
		long before = this.bytes.get();
		while (before == 0 || before + more <= this.limitBytes) {
			if (this.bytes.compareAndSet(before, before + more)) {
				this.movedNanos = System.nanoTime();
				return true;
			}
			before = this.bytes.get();
		}
		return false;
	}

	/** Adds what waits already. */
	void add(int more) {
		if (this.bytes.addAndGet(more) > this.limitBytes) {
			this.full = true;
		}
	}

	/** So much has gone, or will not be sent. */
	void remove(int less) {
		long left = this.bytes.addAndGet(-less);
		this.movedNanos = System.nanoTime();
		if (this.full && left <= this.limitBytes) {
			this.full = false;
		}
		if (this.waiting.get() > 0) {
			wake();
		}
		if (left == 0) {
			this.emptied.run();
		}
	}

	private void wake() {
		this.lock.lock();
		try {
			this.gone.signalAll();
		}
		finally {
			this.lock.unlock();
		}
	}

	/** How many threads wait. */
	int waiting() {
		return this.waiting.get();
	}

	boolean isEmpty() {
		return this.bytes.get() == 0;
	}

	/** Whether there is more than the limit, because of many small messages. */
	boolean isOver() {
		return this.full && this.bytes.get() > this.limitBytes;
	}

	/**
	 * Whether something was refused, and nothing has gone since: no call of the peer
	 * should begin.
	 */
	public boolean isFull() {
		return this.full && !isEmpty();
	}

	/** Says to the caller, and to the log, which limit has been reached, and whose. */
	public String explain() {
		return "too many bytes in replies to " + PeerShare.shortName(this.name) + " that have not been read (limit "
				+ this.limitBytes + ")";
	}

}
