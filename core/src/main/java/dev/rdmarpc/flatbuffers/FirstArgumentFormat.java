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
import java.util.Objects;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.codec.ArrivingBytes;
import dev.rdmarpc.codec.MessageFormat;
import dev.rdmarpc.codec.MessageSegments;
import dev.rdmarpc.codec.ReceivedMemory;

/**
 * A list of arguments of which only the first is sent: the method has no others, or that
 * of the peer has not.
 */
final class FirstArgumentFormat implements MessageFormat {

	private final MessageFormat first;

	private final @Nullable Object[] absent;

	/**
	 * Creates a format.
	 * @param first the format of the first argument
	 * @param absent what arguments are that are not sent; not to be changed
	 */
	FirstArgumentFormat(MessageFormat first, @Nullable Object... absent) {
		this.first = first;
		this.absent = absent;
	}

	@Override
	public void encode(@Nullable Object value, MessageSegments out) {
		this.first.encode(((@Nullable Object[]) Objects.requireNonNull(value))[0], out);
	}

	@Override
	public @Nullable Object[] decode(ByteBuffer message, ReceivedMemory memory) {
		@Nullable Object[] arguments = this.absent.clone();
		arguments[0] = this.first.decode(message, memory);
		return arguments;
	}

	@Override
	public @Nullable MessageFormat onlyArgument() {
		return (this.absent.length == 1) ? this.first : null;
	}

	@Override
	public @Nullable ArrivingBytes foresee(ByteBuffer begun, int messageBytes) {
		return this.first.foresee(begun, messageBytes);
	}

}
