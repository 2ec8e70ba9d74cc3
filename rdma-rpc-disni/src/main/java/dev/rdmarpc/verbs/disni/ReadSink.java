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

package dev.rdmarpc.verbs.disni;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Predicate;

import org.jspecify.annotations.Nullable;

/**
 * A registration of just the bytes that one Read over iWARP fills, for as long as the
 * Read is under way.
 *
 * <p>
 * The peer is told its key, with which it, and whoever it tells, may write into these
 * bytes; so it has ended before anybody is told that the Read has. Safe for use by
 * several threads.
 */
final class ReadSink {

	private final int key;

	private final Predicate<ReadSink> deregistration;

	private final AtomicBoolean closed = new AtomicBoolean();

	private @Nullable ReadSink next;

	/**
	 * Creates the sink of a registration.
	 * @param key names it in the Read
	 * @param deregistration ends it, run once; tells whether that was possible
	 */
	ReadSink(int key, Predicate<ReadSink> deregistration) {
		this.key = key;
		this.deregistration = deregistration;
	}

	int key() {
		return this.key;
	}

	/** Appends the sinks of further segments of the same Read; returns this one. */
	ReadSink followedBy(@Nullable ReadSink others) {
		this.next = others;
		return this;
	}

	/**
	 * Ends the registration, unless that was done, and those of the other segments.
	 * @return whether none of them can be written to any more
	 */
	boolean close() {
		boolean all = true;
		for (ReadSink sink = this; sink != null; sink = sink.next) {
			if (sink.closed.compareAndSet(false, true)) {
				all &= sink.deregistration.test(sink);
			}
		}
		return all;
	}

}
