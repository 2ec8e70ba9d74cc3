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

package dev.rdmarpc.flatbuffers;

import org.jspecify.annotations.Nullable;

/**
 * The message objects of one builder, to be used again once they are released.
 *
 * <p>
 * Not thread-safe; messages may be released by any thread.
 *
 * <h2>Implementation notes</h2>
 *
 * <p>
 * Messages are tried in the order in which they were handed out, which is about the order
 * in which they are released. Nothing is handed back: a message that is idle says so
 * itself. One that lives long loses its place to a new one.
 */
final class GatherMessagePool {

	private static final int CAPACITY = 256;

	private static final int ATTEMPTS = 4;

	private final @Nullable GatherMessage[] messages;

	private int next;

	private int end;

	/**
	 * Creates a pool.
	 * @param reuse whether objects are used again, which hides uses after release
	 */
	GatherMessagePool(boolean reuse) {
		this.messages = new GatherMessage[reuse ? CAPACITY : 0];
	}

	/** Takes an object without content. */
	GatherMessage take() {
		for (int i = 0; i < ATTEMPTS && this.end > 0; i++) {
			int index = this.next;
			this.next = (index + 1 < this.end) ? index + 1 : 0;
			GatherMessage message = this.messages[index];
			if (message != null && message.isIdle()) {
				return message;
			}
		}
		GatherMessage created = new GatherMessage();
		if (this.end < this.messages.length) {
			this.messages[this.end] = created;
			this.end++;
		}
		else if (this.end > 0) {
			this.messages[this.next] = created;
			this.next = (this.next + 1) & (CAPACITY - 1);
		}
		return created;
	}

}
