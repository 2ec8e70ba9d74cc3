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

package dev.rdmarpc.memory;

import java.lang.ref.PhantomReference;
import java.lang.ref.ReferenceQueue;
import java.util.ArrayDeque;
import java.util.List;

/** Where a buffer was allocated, and where it has been since. Thread-safe. */
final class LeakTrack extends PhantomReference<Object> {

	private static final int MAX_HINTS = 8;

	private final int lengthBytes;

	private final Throwable site;

	private final ArrayDeque<String> hints = new ArrayDeque<>();

	LeakTrack(Object buffer, int lengthBytes, ReferenceQueue<Object> unreachable) {
		super(buffer, unreachable);
		this.lengthBytes = lengthBytes;
		this.site = new Throwable(this.lengthBytes + " bytes allocated by " + Thread.currentThread().getName());
	}

	int lengthBytes() {
		return this.lengthBytes;
	}

	/** Has the stack of the allocation. */
	Throwable site() {
		return this.site;
	}

	synchronized void touch(Object hint) {
		if (this.hints.size() == MAX_HINTS) {
			this.hints.removeFirst();
		}
		this.hints.addLast(String.valueOf(hint));
	}

	/** The last hints, the latest at the end. */
	synchronized List<String> hints() {
		return List.copyOf(this.hints);
	}

}
