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
 * The first of several arguments as the root of its message, from a peer whose method has
 * no more. Only for decoding.
 */
final class FirstArgumentFormat implements MessageFormat<@Nullable Object[]> {

	private static final ByteBuffer EMPTY = ByteBuffer.allocateDirect(0);

	private final MessageFormat<@Nullable Object[]> only;

	private final MessageFormat<@Nullable Object[]> all;

	/**
	 * Creates a format.
	 * @param only decodes that argument
	 * @param all decodes all of them
	 */
	FirstArgumentFormat(MessageFormat<@Nullable Object[]> only, MessageFormat<@Nullable Object[]> all) {
		this.only = only;
		this.all = all;
	}

	@Override
	public void encode(@Nullable Object[] value, MessageSegments out) {
		throw new UnsupportedOperationException("only for decoding");
	}

	@Override
	public @Nullable Object[] decode(ByteBuffer message) {
		return complete(this.only.decode(message));
	}

	@Override
	public @Nullable Object[] decode(ByteBuffer message, ReceivedMemory memory) {
		return complete(this.only.decode(message, memory));
	}

	private @Nullable Object[] complete(@Nullable Object[] first) {
		@Nullable Object[] arguments = this.all.decode(EMPTY);
		arguments[0] = first[0];
		return arguments;
	}

}
