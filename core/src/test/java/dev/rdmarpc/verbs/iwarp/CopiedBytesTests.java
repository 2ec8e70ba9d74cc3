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

import java.nio.ByteBuffer;
import java.util.SplittableRandom;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import dev.rdmarpc.verbs.MemoryRegion;
import dev.rdmarpc.verbs.WorkStatus;

import static org.assertj.core.api.Assertions.assertThat;

/** What is copied between memory and sockets, beyond what the kernel does. */
class CopiedBytesTests {

	private static final int SMALL_BYTES = 100;

	private static final int LARGE_BYTES = 4 << 20;

	@ParameterizedTest
	@EnumSource(CrcMode.class)
	void smallSendIsCopiedOnceOnEachSide(CrcMode crc) {
		try (ConnectedPair pair = new ConnectedPair(IwarpOptions.DEFAULTS.withCrc(crc))) {
			MemoryRegion source = pair.client.register(SMALL_BYTES);
			MemoryRegion target = pair.server.register(SMALL_BYTES);
			long sent = pair.clientDevice.copiedBytes();
			long received = pair.serverDevice.copiedBytes();
			pair.server.receive(7, target);
			pair.client.send(pair.client.request.send(1).addSegment(source, 0, SMALL_BYTES));
			Endpoint.pollUntil(() -> pair.server.has(7) && pair.client.has(1), pair.client, pair.server);
			assertThat(pair.clientDevice.copiedBytes() - sent).isEqualTo(SMALL_BYTES);
			assertThat(pair.serverDevice.copiedBytes() - received).isEqualTo(SMALL_BYTES);
		}
	}

	/** As a large message is read: its head first, then the rest in several Reads. */
	@ParameterizedTest
	@ValueSource(longs = { 1, 2, 3 })
	void largeReadsAreNotCopied(long seed) {
		SplittableRandom random = new SplittableRandom(seed);
		try (ConnectedPair pair = new ConnectedPair(IwarpOptions.DEFAULTS)) {
			MemoryRegion remote = pair.server.register(LARGE_BYTES);
			MemoryRegion local = pair.client.register(LARGE_BYTES);
			for (int at = 0; at < LARGE_BYTES; at += Integer.BYTES) {
				remote.memory().putInt(at, random.nextInt());
			}
			int id = 0;
			for (int at = 0; at < LARGE_BYTES;) {
				int bytes = (at == 0) ? 20 : Math.min(LARGE_BYTES - at, random.nextInt(64 << 10, 1 << 20));
				pair.client.send(pair.client.request.read(++id, remote.remoteAddress() + at, remote.remoteKey())
					.addSegment(local, at, bytes));
				at += bytes;
			}
			int last = id;
			Endpoint.pollUntil(() -> pair.client.has(last), pair.client, pair.server);
			assertThat(pair.client.completions).extracting(Endpoint.Completion::status)
				.containsOnly(WorkStatus.SUCCESS);
			assertThat(local.memory().duplicate()).isEqualTo(ByteBuffer.wrap(bytesOf(remote)));
			assertThat(pair.serverDevice.copiedBytes()).as("by the sender, seed %d", seed).isLessThan(16 << 10);
			assertThat(pair.clientDevice.copiedBytes()).as("by the receiver, seed %d", seed)
				.isLessThan(LARGE_BYTES / 20);
		}
	}

	private static byte[] bytesOf(MemoryRegion region) {
		byte[] bytes = new byte[region.lengthBytes()];
		region.memory().get(0, bytes);
		return bytes;
	}

}
