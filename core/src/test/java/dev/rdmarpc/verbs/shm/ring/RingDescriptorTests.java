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

package dev.rdmarpc.verbs.shm.ring;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** How large the rings of a connection are. */
class RingDescriptorTests {

	private static final int WANTED = 1 << 20;

	private static final int SMALL = 1 << 18;

	@Test
	void ringsAreAsLargeAsWantedWhileMemoryIsPlenty() {
		assertThat(RingDescriptor.capacity(WANTED, 512 * RingDescriptor.totalBytes(WANTED))).isEqualTo(WANTED);
		assertThat(RingDescriptor.capacity(WANTED, Long.MAX_VALUE)).isEqualTo(WANTED);
	}

	@Test
	void ringsAreSmallerWhereMemoryIsScarce() {
		assertThat(RingDescriptor.capacity(WANTED, 512 * RingDescriptor.totalBytes(WANTED) - 1)).isEqualTo(WANTED / 2);
		assertThat(RingDescriptor.capacity(WANTED, 64L << 20)).isEqualTo(SMALL);
		assertThat(RingDescriptor.capacity(RingDescriptor.MAX_RING_BYTES, 0)).isEqualTo(SMALL);
	}

	@Test
	void smallRingsAreAlwaysAsLargeAsWanted() {
		assertThat(RingDescriptor.capacity(SMALL, 0)).isEqualTo(SMALL);
		assertThat(RingDescriptor.capacity(RingDescriptor.MIN_RING_BYTES, 0)).isEqualTo(RingDescriptor.MIN_RING_BYTES);
	}

}
