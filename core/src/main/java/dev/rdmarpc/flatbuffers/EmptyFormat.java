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

import dev.rdmarpc.codec.MessageFormat;
import dev.rdmarpc.codec.MessageSegments;
import dev.rdmarpc.codec.ReceivedMemory;

/**
 * The format of nothing: empty messages. Content that a newer peer adds is ignored.
 */
final class EmptyFormat implements MessageFormat {

	private final @Nullable Object nothing;

	/**
	 * Creates a format.
	 * @param nothing what messages read as
	 */
	EmptyFormat(@Nullable Object nothing) {
		this.nothing = nothing;
	}

	@Override
	public void encode(@Nullable Object value, MessageSegments out) {
		out.clear();
	}

	@Override
	public @Nullable Object decode(ByteBuffer message, ReceivedMemory memory) {
		return this.nothing;
	}

}
