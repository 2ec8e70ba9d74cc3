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

package dev.rdmarpc.verbs.iwarp;

import java.util.ArrayList;
import java.util.List;

/**
 * The FPDUs that must have arrived whole by a certain time on the connections of a
 * reactor. Guarded by the reactor's lock.
 *
 * <p>
 * The clock is read only while there is something to wait for; in a loop that polls, only
 * now and then.
 */
final class ReactorDeadlines {

	/** Polls between two looks; a power of two. */
	private static final int POLLS = 16;

	private final List<FrameDeadline> frames = new ArrayList<>();

	/** Notes that a connection waits for the rest of an FPDU. */
	void add(FrameDeadline frame) {
		this.frames.add(frame);
	}

	/** Ends what has run out of time, once in so many polls. */
	void checkNowAndThen(int polls) {
		if ((polls & (POLLS - 1)) == 0) {
			check();
		}
	}

	/** Ends what has run out of time. */
	void check() {
		if (!this.frames.isEmpty()) {
			long now = System.nanoTime();
			this.frames.removeIf((frame) -> frame.isOver(now));
		}
	}

	/** The time until the next deadline, at most the given one. */
	long until(long timeoutNanos) {
		long least = timeoutNanos;
		if (!this.frames.isEmpty()) {
			long now = System.nanoTime();
			for (FrameDeadline frame : this.frames) {
				least = frame.until(now, least);
			}
		}
		return least;
	}

}
