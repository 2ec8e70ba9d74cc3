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

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.codec.MalformedMessageException;
import dev.rdmarpc.codec.MessageFormat;
import dev.rdmarpc.codec.MessageSegments;
import dev.rdmarpc.codec.ReceivedMemory;

/** The format of values that are messages of their own, by reference. */
final class NestedFormat implements MessageFormat {

	private final NestedShape root;

	/** Creates a format for that root. */
	NestedFormat(NestedShape root) {
		this.root = root;
	}

	@Override
	public void encode(@Nullable Object value, MessageSegments out) {
		out.clear();
		boolean complete = false;
		try {
			if (value != null) {
				this.root.writeRoot(value, out);
			}
			complete = true;
		}
		finally {
			if (!complete) {
				out.clear();
			}
		}
	}

	@Override
	public @Nullable Object decode(ByteBuffer message, ReceivedMemory memory) {
		if (!message.hasRemaining()) {
			return null;
		}
		MessageVerifier verifier = new MessageVerifier(1, 1);
		verifier.begin(MessageReader.littleEndian(message), message.position(), message.limit(), false);
		verifier.foreignRoot();
		try {
			return this.root.readRoot(message, memory);
		}
		catch (RuntimeException ex) {
			throw new MalformedMessageException("message cannot be read as " + this.root.name() + ": " + ex, ex);
		}
	}

}
