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

import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** What objects hold that are kept for the next message. */
class IdleSegmentsTests {

	@Test
	void idleObjectsHoldLittleHoweverLargeTheirMessagesWere() {
		long before = directBytes();
		List<MessageSegments> idle = new ArrayList<>();
		for (int i = 0; i < 100; i++) {
			MessageSegments segments = new MessageSegments();
			for (int written = 0; written < 2_000_000;) {
				ByteBuffer chunk = segments.claimMemory(100);
				assertThat(chunk.capacity()).isGreaterThanOrEqualTo(100);
				segments.add(chunk, 0, chunk.capacity());
				written += chunk.capacity();
			}
			segments.clear();
			idle.add(segments);
		}
		assertThat(directBytes() - before).isLessThan(32L << 20);
		assertThat(idle).hasSize(100);
	}

	@Test
	void noTwoMessagesShareAChunk() {
		MessageSegments first = new MessageSegments();
		MessageSegments second = new MessageSegments();
		for (int round = 0; round < 3; round++) {
			List<ByteBuffer> chunks = new ArrayList<>();
			for (int bytes : new int[] { 100, 5000, 100_000, 1_000_000, 2_000_000, 64 * 1024 }) {
				chunks.add(first.claimMemory(bytes));
				chunks.add(second.claimMemory(bytes));
				assertThat(chunks.get(chunks.size() - 1).capacity()).isGreaterThanOrEqualTo(bytes);
			}
			for (int i = 0; i < chunks.size(); i++) {
				chunks.get(i).putInt(0, i);
			}
			for (int i = 0; i < chunks.size(); i++) {
				assertThat(chunks.get(i).getInt(0)).isEqualTo(i);
			}
			first.clear();
			second.clear();
		}
	}

	private static long directBytes() {
		return ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class)
			.stream()
			.filter((pool) -> pool.getName().equals("direct"))
			.mapToLong(BufferPoolMXBean::getMemoryUsed)
			.sum();
	}

}
