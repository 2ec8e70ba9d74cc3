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

package dev.rdmarpc.memory;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class SizeClassesTests {

	@Test
	void everyLengthGetsTheSmallestClassThatFits() {
		for (int length = 0; length <= SizeClasses.MAX_BYTES; length++) {
			int sizeClass = SizeClasses.indexOf(length);
			assertThat(SizeClasses.bytes(sizeClass)).as("class of %d", length).isGreaterThanOrEqualTo(length);
			if (sizeClass > 0) {
				assertThat(SizeClasses.bytes(sizeClass - 1)).as("class before that of %d", length).isLessThan(length);
			}
		}
		assertThat(SizeClasses.bytes(SizeClasses.COUNT - 1)).isEqualTo(SizeClasses.MAX_BYTES);
	}

	@Test
	void wasteAbove128BytesIsAtMostOneEighthWithTheEndOfTheSpan() {
		for (int length = 129; length <= SizeClasses.MAX_BYTES; length++) {
			int sizeClass = SizeClasses.indexOf(length);
			int spanBytes = SizeClasses.spanPages(sizeClass) * MemoryOptions.PAGE_BYTES;
			int used = spanBytes / SizeClasses.bytes(sizeClass) * length;
			assertThat(8L * (spanBytes - used)).as("eight times the waste for %d", length)
				.isLessThanOrEqualTo(spanBytes);
		}
	}

	@Test
	void blocksAreAligned() {
		for (int sizeClass = 0; sizeClass < SizeClasses.COUNT; sizeClass++) {
			int bytes = SizeClasses.bytes(sizeClass);
			assertThat(bytes % ((bytes >= 512) ? 64 : 16)).as("alignment of %d", bytes).isZero();
		}
	}

}
