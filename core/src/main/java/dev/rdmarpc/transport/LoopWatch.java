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

import java.util.concurrent.atomic.AtomicLong;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.logging.ThreadText;

/**
 * When a loop last turned, and what to say when that is long ago. Written by the driver,
 * read by any thread.
 */
final class LoopWatch {

	/**
	 * After how long without a turn a loop is said not to run; an idle one turns every
	 * few milliseconds.
	 */
	private static final long STUCK_NANOS = 5_000_000_000L;

	private final AtomicLong lastTurnNanos;

	LoopWatch(long nowNanos) {
		this.lastTurnNanos = new AtomicLong(nowNanos);
	}

	/** A turn that began then has succeeded; driver. */
	void turned(long nanos) {
		this.lastTurnNanos.setOpaque(nanos);
	}

	long lastTurnNanos() {
		return this.lastTurnNanos.getOpaque();
	}

	/**
	 * Why the loop does not run, or {@code null}.
	 * @param driver the thread that drives, or {@code null}
	 */
	@Nullable String problem(@Nullable Thread driver, long nowNanos) {
		long nanos = nowNanos - lastTurnNanos();
		return (nanos < STUCK_NANOS) ? null : "has not turned for " + nanos / 1_000_000_000 + " s" + heldUpBy(driver);
	}

	/** The end of a sentence that says who drives, and where that thread is. */
	static String heldUpBy(@Nullable Thread driver) {
		return (driver != null) ? ", held up by thread " + ThreadText.of(driver) : "";
	}

}
