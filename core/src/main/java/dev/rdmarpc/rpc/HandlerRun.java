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

/**
 * Times the run of a handler, and tells the pace of its method. Confined to the thread
 * that has the call.
 */
final class HandlerRun {

	/** Whom to tell, until the run has ended. */
	private @Nullable HandlerPace pace;

	private boolean onLoop;

	private long startedNanos;

	void begin(@Nullable HandlerPace told, boolean loop) {
		this.onLoop = loop;
		this.startedNanos = System.nanoTime();
		this.pace = told;
		if (loop && told != null) {
			told.beginOnLoop(this.startedNanos);
		}
	}

	long startedNanos() {
		return this.startedNanos;
	}

	/** What the run has cost its thread is known; the first of several ends counts. */
	void end() {
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
