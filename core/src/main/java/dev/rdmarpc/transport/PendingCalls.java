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

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;

import org.jspecify.annotations.Nullable;

/**
 * The calls outstanding on one channel, by request id. A request id is a slot (low 16
 * bits) and the slot's generation (high 16 bits), so that a late reply to a call given up
 * is told from the reply to the next call in the same slot.
 *
 * <p>
 * Confined to the loop's driver, but for {@link #count()}.
 */
final class PendingCalls {

	private static final VarHandle COUNT;

	static {
		try {
			COUNT = MethodHandles.lookup().findVarHandle(PendingCalls.class, "count", int.class);
		}
		catch (ReflectiveOperationException ex) {
			throw new ExceptionInInitializerError(ex);
		}
	}

	private static final int INITIAL_SLOTS = 64;

	private final int maxCalls;

	private @Nullable PendingCall[] calls = new PendingCall[INITIAL_SLOTS];

	private long[] deadlines = new long[INITIAL_SLOTS];

	private int[] generations = new int[INITIAL_SLOTS];

	private byte[] priorities = new byte[INITIAL_SLOTS];

	/** The deadlines of the calls, also those that this side does not watch. */
	private long[] due = new long[INITIAL_SLOTS];

	private int[] freeSlots = new int[INITIAL_SLOTS];

	private int freeCount;

	private int usedSlots;

	private int count;

	private int withDeadline;

	/** No deadline passes before that, as long as there are any. */
	private long firstDeadline = Long.MAX_VALUE;

	/** The first deadline of the slots that a walk has passed already. */
	private long nextDeadline = Long.MAX_VALUE;

	private int expiryCursor;

	private int anyCursor;

	PendingCalls(int maxCalls) {
		this.maxCalls = maxCalls;
	}

	/** The number of calls; any thread may ask. */
	int count() {
		return (int) COUNT.getOpaque(this);
	}

	private void count(int difference) {
		COUNT.setOpaque(this, this.count + difference);
	}

	/** Whether a deadline may pass before then. */
	boolean anyDeadlineBefore(long nanos) {
		return this.withDeadline > 0 && this.firstDeadline - nanos < 0;
	}

	boolean isFull() {
		return this.count >= this.maxCalls;
	}

	/**
	 * Adds a call and returns its request id.
	 * @param deadlineNanos by {@link System#nanoTime()}, or {@link Long#MAX_VALUE}
	 * @param priority its class
	 * @param dueNanos what its messages are ordered by, like {@code deadlineNanos}
	 */
	int add(PendingCall call, long deadlineNanos, int priority, long dueNanos) {
		int slot = (this.freeCount > 0) ? this.freeSlots[--this.freeCount] : nextSlot();
		this.calls[slot] = call;
		this.deadlines[slot] = deadlineNanos;
		this.priorities[slot] = (byte) priority;
		this.due[slot] = dueNanos;
		count(1);
		if (deadlineNanos != Long.MAX_VALUE) {
			this.firstDeadline = (this.withDeadline++ == 0) ? deadlineNanos
					: earlier(this.firstDeadline, deadlineNanos);
			this.nextDeadline = earlier(this.nextDeadline, deadlineNanos);
		}
		return slot | (this.generations[slot] << 16);
	}

	private int nextSlot() {
		if (this.usedSlots == this.calls.length) {
			int grown = Math.min(this.usedSlots * 2, ChannelOptions.MAX_CALLS);
			@Nullable PendingCall[] moreCalls = Arrays.copyOf(this.calls, grown);
			this.deadlines = Arrays.copyOf(this.deadlines, grown);
			this.generations = Arrays.copyOf(this.generations, grown);
			this.freeSlots = Arrays.copyOf(this.freeSlots, grown);
			this.priorities = Arrays.copyOf(this.priorities, grown);
			this.due = Arrays.copyOf(this.due, grown);
			// the last one, by whose length it is known that all have grown
			this.calls = moreCalls;
		}
		return this.usedSlots++;
	}

	/** The class of the call with an id, or of one in its slot. */
	int priority(int requestId) {
		int slot = requestId & 0xFFFF;
		return (slot < this.usedSlots) ? this.priorities[slot] : RequestTemplate.NORMAL_PRIORITY;
	}

	/** The deadline of the call with an id, or of one in its slot. */
	long dueNanos(int requestId) {
		int slot = requestId & 0xFFFF;
		return (slot < this.usedSlots) ? this.due[slot] : DeadlineQueue.NONE;
	}

	/** Takes the call with an id, or {@code null} if it is not outstanding any more. */
	@Nullable PendingCall remove(int requestId) {
		int slot = requestId & 0xFFFF;
		if (slot >= this.usedSlots || (this.generations[slot] & 0xFFFF) != requestId >>> 16) {
			return null;
		}
		return free(slot);
	}

	/** Removes a call if it is outstanding, and tells whether it was. */
	boolean remove(PendingCall call) {
		int slot = call.requestId() & 0xFFFF;
		return slot < this.usedSlots && this.calls[slot] == call && free(slot) == call;
	}

	/** Whether a call with this id is outstanding. */
	boolean contains(int requestId) {
		int slot = requestId & 0xFFFF;
		return slot < this.usedSlots && this.calls[slot] != null
				&& (this.generations[slot] & 0xFFFF) == requestId >>> 16;
	}

	/** The call with an id, or {@code null} if it is not outstanding any more. */
	@Nullable PendingCall find(int requestId) {
		return contains(requestId) ? this.calls[requestId & 0xFFFF] : null;
	}

	private @Nullable PendingCall free(int slot) {
		PendingCall call = this.calls[slot];
		if (call == null) {
			return null;
		}
		this.calls[slot] = null;
		this.generations[slot]++;
		this.freeSlots[this.freeCount++] = slot;
		count(-1);
		if (this.deadlines[slot] != Long.MAX_VALUE) {
			this.withDeadline--;
		}
		return call;
	}

	/**
	 * Takes a call whose deadline has passed, or {@code null} if there is none. Taking
	 * all of them looks at each slot once, and so does finding that there is none; after
	 * that nothing is looked at before the first deadline.
	 */
	@Nullable PendingCall removeExpired(long nowNanos) {
		if (this.withDeadline == 0 || nowNanos - this.firstDeadline < 0) {
			return null;
		}
		while (this.expiryCursor < this.usedSlots) {
			int slot = this.expiryCursor++;
			long deadline = this.deadlines[slot];
			if (this.calls[slot] == null || deadline == Long.MAX_VALUE) {
				continue;
			}
			if (nowNanos - deadline >= 0) {
				return free(slot);
			}
			this.nextDeadline = earlier(this.nextDeadline, deadline);
		}
		this.expiryCursor = 0;
		this.firstDeadline = this.nextDeadline;
		this.nextDeadline = Long.MAX_VALUE;
		return null;
	}

	/** The earlier of two times, of which {@link Long#MAX_VALUE} is none. */
	private static long earlier(long first, long second) {
		return (first == Long.MAX_VALUE || second - first < 0) ? second : first;
	}

	/**
	 * Takes any call, or {@code null} if there is none. Taking all of them looks at each
	 * slot once.
	 */
	@Nullable PendingCall removeAny() {
		while (this.count > 0) {
			int slot = this.anyCursor++ % this.usedSlots;
			this.anyCursor %= this.usedSlots;
			if (this.calls[slot] != null) {
				return free(slot);
			}
		}
		return null;
	}

}
