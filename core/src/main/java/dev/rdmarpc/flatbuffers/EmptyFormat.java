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

/**
 * The formats of nothing: empty messages. Content that a newer peer adds is ignored.
 */
final class EmptyFormat {

	private EmptyFormat() {
	}

	/** No arguments. */
	static final class Arguments implements MessageFormat<@Nullable Object[]> {

		@Override
		public void encode(@Nullable Object[] value, MessageSegments out) {
			out.clear();
		}

		@Override
		public @Nullable Object[] decode(ByteBuffer message) {
			return new @Nullable Object[0];
		}

	}

	/** No result. */
	static final class Result implements MessageFormat<@Nullable Object> {

		@Override
		public void encode(@Nullable Object value, MessageSegments out) {
			out.clear();
		}

		@Override
		@SuppressWarnings("NullAway") // does not see that T may be nullable
		public @Nullable Object decode(ByteBuffer message) {
			return null;
		}

	}

}
