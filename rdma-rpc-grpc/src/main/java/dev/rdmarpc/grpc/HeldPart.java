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

package dev.rdmarpc.grpc;

import java.util.concurrent.atomic.AtomicInteger;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.transport.StreamReceiver;

/**
 * What a part of a stream counts for with the peer that has sent it, until the last one
 * that reads of it has given its memory back. Thread-safe; begins with one reader.
 */
final class HeldPart {

	private final StreamReceiver receiver;

	private final int bytes;

	private final AtomicInteger readers = new AtomicInteger(1);

	private HeldPart(StreamReceiver receiver, int bytes) {
		this.receiver = receiver;
		this.bytes = bytes;
	}

	/** A part that has arrived, or {@code null} if parts do not count. */
	static @Nullable HeldPart of(StreamReceiver receiver, int bytes) {
		return receiver.isCounted() ? new HeldPart(receiver, bytes) : null;
	}

	/** Adds a reader, while there is one. */
	static @Nullable HeldPart retain(@Nullable HeldPart part) {
		if (part != null) {
			part.readers.incrementAndGet();
		}
		return part;
	}

	/** A reader has given its memory back. */
	static void release(@Nullable HeldPart part) {
		if (part != null && part.readers.decrementAndGet() == 0) {
			part.receiver.consumed(part.bytes);
		}
	}

}
