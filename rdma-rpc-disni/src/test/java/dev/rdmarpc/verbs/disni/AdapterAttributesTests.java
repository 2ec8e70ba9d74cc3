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

package dev.rdmarpc.verbs.disni;

import org.junit.jupiter.api.Test;

import dev.rdmarpc.verbs.DeviceLimits;

import static org.assertj.core.api.Assertions.assertThat;

class AdapterAttributesTests {

	@Test
	void anAdapterForInfiniBandIsTakenAtItsWord() {
		AdapterAttributes attributes = new AdapterAttributes(false, 1000, 4096, 30, 30, 65_536, 16, 20, 2048, 28,
				1L << 30, false);
		assertThat(attributes.oneSegmentPerRead()).isFalse();
		assertThat(attributes.toLimits())
			.isEqualTo(new DeviceLimits(1000, 32_768, 4096, 2048, 30, 28, 16, 1L << 30, true, false, false, true));
	}

	@Test
	void anIwarpAdapterNeedsRoomForReadsThatScatter() {
		AdapterAttributes attributes = new AdapterAttributes(true, 1000, 4096, 4, 1, 65_536, 16, 16, 2048, 4, 1L << 31,
				true);
		assertThat(attributes.oneSegmentPerRead()).isTrue();
		assertThat(attributes.toLimits().maxSendQueueDepth()).isEqualTo(1024);
	}

	@Test
	void withoutOurLibraryThereAreNoSharedReceiveQueues() {
		for (String name : new String[] { "mlx5_0", "siw0", "rxe0" }) {
			DeviceLimits limits = PlainVerbs.attributes(name).toLimits();
			assertThat(limits.sharedReceiveQueue()).isFalse();
			assertThat(limits.maxSendSegments()).isEqualTo(4);
			assertThat(limits.maxReadDepth()).isPositive();
		}
		assertThat(PlainVerbs.attributes("siw0").iwarp()).isTrue();
		assertThat(PlainVerbs.attributes("mlx5_0").iwarp()).isFalse();
	}

}
