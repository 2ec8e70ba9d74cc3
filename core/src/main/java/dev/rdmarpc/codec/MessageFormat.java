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

package dev.rdmarpc.codec;

import java.nio.ByteBuffer;

import org.jspecify.annotations.Nullable;

/**
 * The compiled way of one kind of value into messages and back.
 *
 * <p>
 * Thread-safe.
 */
public interface MessageFormat {

	/**
	 * Encodes a value. What {@code out} held before is lost. When this throws,
	 * {@code out} is empty.
	 * @param value the value; parts of it may be referenced, not copied, so it must not
	 * change until {@code out} is cleared
	 * @param out takes the message; borrowed
	 * @throws MessageTooLargeException if the message exceeds
	 * {@link MessageSegments#maxBytes()}
	 * @throws UnencodableValueException if the value cannot be carried
	 */
	void encode(@Nullable Object value, MessageSegments out);

	/**
	 * Decodes a message after verifying it.
	 * @param message the message is its bytes from position to limit, which stay where
	 * they are; a direct buffer with the indexes of the memory that it was received in.
	 * Borrowed. {@link ByteBuffer} and {@code com.google.flatbuffers.Table} values in the
	 * result are views of it, if the memory is {@linkplain ReceivedMemory#isLent() lent},
	 * or copies
	 * @param memory gives counted parts, such as
	 * {@link dev.rdmarpc.memory.RegisteredBuffer} values, which it owns; borrowed
	 * @throws MalformedMessageException whatever is wrong with the bytes; parts may have
	 * been made
	 */
	@Nullable Object decode(ByteBuffer message, ReceivedMemory memory);

	/**
	 * The format of the only argument, if this is one of lists that have exactly one:
	 * decoding with it makes no list.
	 */
	default @Nullable MessageFormat onlyArgument() {
		return null;
	}

	/**
	 * Looks for a large array of bytes in a message of which only the beginning is there,
	 * so that it is filled while the rest arrives. Decoding verifies everything all the
	 * same: what is found here is a guess.
	 * @param begun what is there, from position to limit, at the indexes that it will
	 * have in the whole message; borrowed
	 * @param messageBytes the length of the whole message
	 * @return the array, owned by the caller and not filled, or {@code null}
	 */
	default @Nullable ArrivingBytes foresee(ByteBuffer begun, int messageBytes) {
		return null;
	}

}
