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

package dev.rdmarpc.rpc;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.transport.ChannelLoop;

/**
 * Times the run of a handler, and tells the pace of its method. Confined to the thread
 * that has the call.
 */
final class HandlerRun {

	/** What a loop's last look at the clock is good enough for. */
	private static final long FAR_NANOS = 1_000_000_000;

	/** Whom to tell, until the run has ended. */
	private @Nullable HandlerPace pace;

	private boolean onLoop;

	/** Whether the clock was read when it began. */
	private boolean timed;

	private long startedNanos;

	/** A run begins whose time is of interest. */
	void begin(@Nullable HandlerPace told, boolean loop) {
		this.onLoop = loop;
		this.pace = told;
		this.timed = !loop || told != null;
		if (this.timed) {
			this.startedNanos = System.nanoTime();
		}
		if (loop && told != null) {
			told.beginOnLoop(this.startedNanos);
		}
	}

	/**
	 * A run begins, whose time is of interest unless it is one of a quick handler.
	 * @param loop on whose thread it is, or {@code null} on an executor's
	 */
	void begin(@Nullable HandlerPace told, @Nullable ChannelLoop loop) {
		long roughly = (loop == null || told == null || told.times()) ? 0 : loop.roughNanos();
		if (told == null || roughly == 0) {
			begin(told, loop != null);
			return;
		}
		this.onLoop = true;
		this.pace = told;
		this.timed = false;
		this.startedNanos = roughly;
		told.beginOnLoop(roughly);
	}

	/** Whether it is, or was, on the thread of a loop. */
	boolean isOnLoop() {
		return this.onLoop;
	}

	/** Whether a deadline has passed; before the run has ended. */
	boolean isAfter(long deadlineNanos, ChannelLoop loop) {
		if (this.timed) {
			return this.startedNanos - deadlineNanos >= 0;
		}
		return deadlineNanos - loop.nowNanos() < FAR_NANOS && System.nanoTime() - deadlineNanos >= 0;
	}

	/**
	 * What the run has cost its thread is known; the first of several ends counts.
	 * @param loop that it began on, if it did on one
	 */
	void end(ChannelLoop loop) {
		HandlerPace told = this.pace;
		if (told != null && !this.timed) {
			if (loop.isOwnThread()) {
				this.pace = null;
				told.endUntimed(this.startedNanos);
				return;
			}
			told.replaced();
		}
		end(1);
	}

	/**
	 * The same where the run was about messages of a stream.
	 * @param messages how many, at least 1
	 */
	void end(int messages) {
		HandlerPace told = this.pace;
		if (told == null) {
			return;
		}
		this.pace = null;
		if (this.onLoop) {
			told.endOnLoop(this.startedNanos, System.nanoTime(), messages);
		}
		else {
			told.endOnExecutor(this.startedNanos, System.nanoTime(), messages);
		}
	}

}
