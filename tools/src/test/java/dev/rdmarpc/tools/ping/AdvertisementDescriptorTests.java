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

package dev.rdmarpc.tools.ping;

import java.nio.ByteBuffer;
import java.util.HexFormat;

import org.junit.jupiter.api.Test;

import dev.rdmarpc.verbs.RemoteRegion;

import static org.assertj.core.api.Assertions.assertThat;

class AdvertisementDescriptorTests {

	/** What {@code rping -c} sent, from a capture. */
	private static final String GOLDEN = "000055a4013c2b90" + "655d5400" + "00000040";

	private static final RemoteRegion REGION = new RemoteRegion(0x55a4013c2b90L, 0x655d5400, 64);

	@Test
	void isEncodedAsRpingDoes() {
		ByteBuffer buffer = ByteBuffer.allocate(24);
		AdvertisementDescriptor.encode(buffer, 4, REGION);
		assertThat(HexFormat.of().formatHex(buffer.array())).isEqualTo("00000000" + GOLDEN + "00000000");
	}

	@Test
	void thatOfRpingIsDecoded() {
		ByteBuffer buffer = ByteBuffer.allocate(18).put(2, HexFormat.of().parseHex(GOLDEN));
		assertThat(AdvertisementDescriptor.decode(buffer, 2)).isEqualTo(REGION);
	}

	@Test
	void aLengthIsNeverNegative() {
		ByteBuffer buffer = ByteBuffer.allocate(16).putInt(12, -1);
		assertThat(AdvertisementDescriptor.decode(buffer, 0).lengthBytes()).isEqualTo(0xffff_ffffL);
	}

}
