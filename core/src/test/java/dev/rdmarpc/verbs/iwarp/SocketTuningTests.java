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

package dev.rdmarpc.verbs.iwarp;

import org.junit.jupiter.api.Test;

import dev.rdmarpc.verbs.iwarp.wire.FpduFlyweight;

import static org.assertj.core.api.Assertions.assertThat;

/** Segments are as long as the path carries whole. */
class SocketTuningTests {

	@Test
	void segmentsFitTheTcpSegmentOfAnInterface() {
		for (int mtu = 576; mtu < 9100; mtu++) {
			int segment = mtu - 40 - 12;
			assertThat(FpduFlyweight.totalBytes(SocketTuning.maxUlpduBytes(mtu, false))).isLessThanOrEqualTo(segment)
				.isGreaterThan(segment - 8);
		}
		assertThat(SocketTuning.maxUlpduBytes(1 << 20, true)).isEqualTo(65534);
	}

}
