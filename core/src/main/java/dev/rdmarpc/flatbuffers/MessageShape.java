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

import java.nio.ByteBuffer;

import dev.rdmarpc.codec.MessageSegments;
import dev.rdmarpc.codec.ReceivedMemory;
import dev.rdmarpc.codec.UnencodableValueException;

/** A {@link GatherMessage}, by reference. */
final class MessageShape extends NestedShape {

	/** A message object with its lists. */
	private static final int MESSAGE_BYTES = 1024;

	MessageShape() {
		super(GatherMessage.class.getName(), MESSAGE_BYTES);
	}

	@Override
	int writeTarget(Object value, SegmentWriter out) {
		return write((GatherMessage) value, out);
	}

	/**
	 * Writes a message by reference.
	 * @param message retained
	 * @return its position in the message that it becomes part of
	 * @throws UnencodableValueException if it is no message of its own
	 */
	static int write(GatherMessage message, SegmentWriter out) {
		checkRoot(message);
		return out.embed(message.segments(), message.retain(), true) - OFFSET_BYTES;
	}

	private static void checkRoot(GatherMessage message) {
		if (message.vector() != null) {
			throw new UnencodableValueException("a vector is no message (expected: one with a root table)");
		}
	}

	@Override
	Object readTarget(MessageReader in, int position) {
		return GatherMessage.ofReceived(in.memory(), position + OFFSET_BYTES, in.length(position));
	}

	@Override
	void writeRoot(Object value, MessageSegments out) {
		GatherMessage message = (GatherMessage) value;
		checkRoot(message);
		message.addTo(out);
	}

	@Override
	Object readRoot(ByteBuffer message, ReceivedMemory memory) {
		return GatherMessage.ofReceived(memory, message.position(), message.remaining());
	}

}
