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

package dev.rdmarpc.rpc;

import dev.rdmarpc.codec.MessageCodec;

/** The name of a codec, as peers exchange it when they connect. */
final class CodecName {

	private static final int MAX_CHARACTERS = 100;

	private CodecName() {
	}

	/**
	 * Returns the name of a codec.
	 * @throws IllegalArgumentException if it is not one, since the peer would read
	 * another one or none
	 */
	@SuppressWarnings("NullAway") // users' codecs need not be checked for null
	static String of(MessageCodec codec) {
		String name = codec.name();
		if (name == null || name.isEmpty() || name.length() > MAX_CHARACTERS
				|| !name.chars().allMatch((character) -> character >= ' ' && character <= '~')) {
			throw new IllegalArgumentException("name '" + name + "' of the codec " + codec.getClass().getName()
					+ " (expected: 1 to " + MAX_CHARACTERS + " printable ASCII characters)");
		}
		return name;
	}

}
