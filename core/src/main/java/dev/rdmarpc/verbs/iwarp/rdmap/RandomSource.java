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

package dev.rdmarpc.verbs.iwarp.rdmap;

import java.nio.ByteBuffer;
import java.security.SecureRandom;

/**
 * Unpredictable numbers, fetched from a {@link SecureRandom} many at a time because each
 * call to it costs about as much as a system call. Not thread-safe.
 */
final class RandomSource {

	private static final int BYTES = 1024;

	private final SecureRandom secureRandom;

	private final byte[] bytes = new byte[BYTES];

	private final ByteBuffer buffer = ByteBuffer.wrap(this.bytes).position(BYTES);

	RandomSource(SecureRandom secureRandom) {
		this.secureRandom = secureRandom;
	}

	int nextInt() {
		return filled(Integer.BYTES).getInt();
	}

	long nextLong() {
		return filled(Long.BYTES).getLong();
	}

	private ByteBuffer filled(int needed) {
		if (this.buffer.remaining() < needed) {
			this.secureRandom.nextBytes(this.bytes);
			this.buffer.clear();
		}
		return this.buffer;
	}

}
