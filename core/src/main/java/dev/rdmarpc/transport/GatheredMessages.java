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

import java.nio.ByteBuffer;
import java.util.Objects;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.codec.MessageSegments;

/**
 * Small messages of a stream that are published one after the other and written into one
 * frame, until the driver takes it. The frame is submitted when it is begun: nothing
 * waits for it to become full.
 *
 * <p>
 * Messages are added by one thread at a time, the publisher's.
 *
 * <p>
 * Implementation notes. The lock guards which frame is open, and what is written into it
 * while it is. The driver closes it before it looks at it. Frames are submitted in the
 * order in which they are begun, and what does not go into the open one closes it first,
 * so that messages keep their order.
 */
final class GatheredMessages {

	private final StreamSender.Carrier carrier;

	private final OutgoingMessage.Owner owner;

	private final int mostCost;

	private @Nullable OutgoingMessage open;

	/** The view of the frame that was begun last; whoever publishes. */
	private @Nullable ByteBuffer frame;

	/**
	 * Creates the beginning, without a frame.
	 * @param mostCost what the messages of a frame may count for together
	 */
	GatheredMessages(StreamSender.Carrier carrier, OutgoingMessage.Owner owner, int mostCost) {
		this.carrier = carrier;
		this.owner = owner;
		this.mostCost = mostCost;
	}

	/**
	 * Adds a message, for which a frame is begun if necessary.
	 * @return {@code false} without memory for a frame
	 */
	boolean tryAdd(MessageSegments message, int requestId) {
		int bytes = PackedMessages.entryBytes(message.totalBytes());
		int cost = message.totalBytes() + StreamReceiver.MESSAGE_OVERHEAD_BYTES;
		synchronized (this) {
			OutgoingMessage begun = this.open;
			if (begun != null && begun.hasRoomFor(bytes, this.carrier.packBytes()) && begun.messageBytes()
					+ begun.messages() * StreamReceiver.MESSAGE_OVERHEAD_BYTES + cost <= this.mostCost) {
				begun.append(Objects.requireNonNull(this.frame), message);
				return true;
			}
			this.open = null;
		}
		OutgoingMessage next = this.carrier.tryBegin(this.owner, requestId, this);
		if (next == null) {
			return false;
		}
		ByteBuffer begins = next.memory().buffer();
		this.frame = begins;
		next.append(begins, message);
		synchronized (this) {
			this.open = next;
		}
		submit(next);
		return true;
	}

	private void submit(OutgoingMessage begun) {
		boolean submitted = false;
		try {
			begun.submit();
			submitted = true;
		}
		finally {
			if (!submitted) {
				close(begun);
			}
		}
	}

	/** Nothing is added to what there is. */
	synchronized void close() {
		this.open = null;
	}

	/** Nothing is added to a frame any more. */
	synchronized void close(OutgoingMessage begun) {
		if (this.open == begun) {
			this.open = null;
		}
	}

}
