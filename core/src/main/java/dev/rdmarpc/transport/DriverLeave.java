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

import org.jspecify.annotations.Nullable;

/**
 * The users' code that one thread of a loop is to run while it has left the driver role,
 * and whether it is away doing so.
 *
 * <p>
 * Implementation notes. While the thread is at home the tasks belong to it. While it is
 * away they belong to whoever takes them off by a compare-and-set of {@code first}: the
 * thread itself, one by one, or the one that {@linkplain #replace replaces} it, all at
 * once. A task that was taken never becomes the first again of the same leave, since
 * tasks are only added at home; so the compare-and-set cannot succeed on a link that has
 * changed, although tasks are reused. Away is the time at which it left, so that a
 * watcher who has seen one leave last too long cannot end the next one.
 */
final class DriverLeave {

	private static final VarHandle FIRST;

	private static final VarHandle AWAY;

	private static final long HOME = 0;

	private static final long REPLACED = 1;

	static {
		try {
			MethodHandles.Lookup lookup = MethodHandles.lookup();
			FIRST = lookup.findVarHandle(DriverLeave.class, "first", LinkedTask.class);
			AWAY = lookup.findVarHandle(DriverLeave.class, "away", long.class);
		}
		catch (ReflectiveOperationException ex) {
			throw new ExceptionInInitializerError(ex);
		}
	}

	private final Thread owner;

	private volatile @Nullable LinkedTask first;

	private @Nullable LinkedTask last;

	private volatile long away = HOME;

	/**
	 * At home.
	 * @param owner the thread, which is the loop's until it is replaced
	 */
	DriverLeave(Thread owner) {
		this.owner = owner;
	}

	Thread owner() {
		return this.owner;
	}

	/** Adds tasks linked from one to another; the thread itself, at home. */
	void add(LinkedTask head, LinkedTask tail) {
		LinkedTask end = this.last;
		if (this.first == null || end == null) {
			FIRST.setOpaque(this, head);
		}
		else {
			end.linked(head);
		}
		this.last = tail;
	}

	/** Whether there are tasks; the thread itself. */
	boolean hasTasks() {
		return FIRST.getOpaque(this) != null;
	}

	/** The thread leaves. */
	void begin(long nowNanos) {
		this.away = (nowNanos == HOME || nowNanos == REPLACED) ? 2 : nowNanos;
	}

	/** The next task, or {@code null} if there is none; the thread itself. */
	@Nullable UserTask next() {
		LinkedTask task;
		do {
			task = this.first;
			if (task == null) {
				return null;
			}
		}
		while (!FIRST.compareAndSet(this, task, task.linked()));
		if (task.linked() == null) {
			this.last = null;
		}
		task.linked(null);
		return (UserTask) task;
	}

	/**
	 * The thread comes back.
	 * @return whether it is still the loop's; if not it has no tasks and must go
	 */
	boolean end() {
		long since = this.away;
		return since == HOME || (since != REPLACED && AWAY.compareAndSet(this, since, HOME));
	}

	boolean isAway() {
		long since = this.away;
		return since != HOME && since != REPLACED;
	}

	boolean isReplaced() {
		return this.away == REPLACED;
	}

	/** For how long the thread has been away, in nanoseconds, or 0. Any thread. */
	long nanos(long nowNanos) {
		long since = this.away;
		return (since == HOME || since == REPLACED) ? 0 : Math.max(1, nowNanos - since);
	}

	/**
	 * Replaces the thread if it has been away for that long.
	 * @return whether the caller is now the one to take its tasks and to be the loop's
	 * thread
	 */
	boolean replace(long nanos, long nowNanos) {
		long since = this.away;
		return since != HOME && since != REPLACED && nowNanos - since >= nanos
				&& AWAY.compareAndSet(this, since, REPLACED);
	}

	/** Takes all tasks of a thread that was replaced, linked, or {@code null}. */
	@Nullable LinkedTask takeAll() {
		return (LinkedTask) FIRST.getAndSet(this, null);
	}

}
