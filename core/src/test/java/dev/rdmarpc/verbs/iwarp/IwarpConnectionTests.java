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
import java.nio.charset.StandardCharsets;
import java.util.Random;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import dev.rdmarpc.verbs.MemoryRegion;
import dev.rdmarpc.verbs.QueuePairFault.Origin;
import dev.rdmarpc.verbs.QueuePairState;
import dev.rdmarpc.verbs.WorkStatus;

import static org.assertj.core.api.Assertions.assertThat;

/** Messages and one-sided operations between two endpoints in this process. */
class IwarpConnectionTests {

	@ParameterizedTest
	@EnumSource(CrcMode.class)
	void sendArrivesInTheReceivePosted(CrcMode crc) {
		try (ConnectedPair pair = new ConnectedPair(IwarpOptions.DEFAULTS.withCrc(crc))) {
			MemoryRegion source = pair.client.register(64);
			MemoryRegion target = pair.server.register(64);
			source.memory().put(0, "hello, rdma".getBytes(StandardCharsets.US_ASCII));
			pair.server.receive(7, target);
			pair.client.send(pair.client.request.send(1).addSegment(source, 0, 11));
			Endpoint.pollUntil(() -> pair.server.has(7) && pair.client.has(1), pair.client, pair.server);
			assertThat(pair.server.completion(7).status()).isEqualTo(WorkStatus.SUCCESS);
			assertThat(pair.server.completion(7).bytes()).isEqualTo(11);
			assertThat(pair.client.completion(1).status()).isEqualTo(WorkStatus.SUCCESS);
			byte[] received = new byte[11];
			target.memory().get(0, received);
			assertThat(new String(received, StandardCharsets.US_ASCII)).isEqualTo("hello, rdma");
		}
	}

	@Test
	void acceptingSideMaySendFirst() {
		try (ConnectedPair pair = new ConnectedPair(IwarpOptions.DEFAULTS)) {
			MemoryRegion source = pair.server.register(64);
			MemoryRegion target = pair.client.register(64);
			pair.client.receive(7, target);
			pair.server.send(pair.server.request.send(1).addSegment(source, 0, 64));
			Endpoint.pollUntil(() -> pair.client.has(7), pair.client, pair.server);
			assertThat(pair.client.completion(7).bytes()).isEqualTo(64);
		}
	}

	@ParameterizedTest
	@EnumSource(CrcMode.class)
	void writeAndReadMoveLargePayloads(CrcMode crc) {
		int size = 3_000_001;
		try (ConnectedPair pair = new ConnectedPair(IwarpOptions.DEFAULTS.withCrc(crc))) {
			MemoryRegion source = pair.client.register(size);
			MemoryRegion remote = pair.server.register(size);
			MemoryRegion back = pair.client.register(size);
			byte[] bytes = new byte[size];
			new Random(1).nextBytes(bytes);
			source.memory().put(0, bytes);
			pair.client.send(pair.client.request.write(1, remote.remoteAddress(), remote.remoteKey())
				.addSegment(source, 0, 1_000_000)
				.addSegment(source, 1_000_000, size - 1_000_000));
			pair.client.send(pair.client.request.read(2, remote.remoteAddress(), remote.remoteKey())
				.addSegment(back, 0, 5)
				.addSegment(back, 5, size - 5));
			Endpoint.pollUntil(() -> pair.client.has(2), pair.client, pair.server);
			assertThat(pair.client.completions).extracting(Endpoint.Completion::status)
				.containsOnly(WorkStatus.SUCCESS);
			assertThat(back.memory().duplicate()).isEqualTo(ByteBuffer.wrap(bytes));
			assertThat(remote.memory().duplicate()).isEqualTo(ByteBuffer.wrap(bytes));
		}
	}

	@Test
	void longReadKeepsThePollersOfBothSidesPolling() {
		int size = 16 << 20;
		try (ConnectedPair pair = new ConnectedPair(IwarpOptions.DEFAULTS)) {
			MemoryRegion remote = pair.server.register(size);
			MemoryRegion local = pair.client.register(size);
			int[] moving = new int[2];
			pair.client.send(
					pair.client.request.read(1, remote.remoteAddress(), remote.remoteKey()).addSegment(local, 0, size));
			Endpoint.pollUntil(() -> {
				moving[0] += pair.client.completionQueue.isMoving() ? 1 : 0;
				moving[1] += pair.server.completionQueue.isMoving() ? 1 : 0;
				return pair.client.has(1);
			}, pair.client, pair.server);
			assertThat(moving[0]).isGreaterThan(4);
			assertThat(moving[1]).isGreaterThan(4);
			Endpoint.pollUntil(() -> !pair.client.completionQueue.isMoving() && !pair.server.completionQueue.isMoving(),
					pair.client, pair.server);
		}
	}

	@Test
	void disconnectDeliversWhatWasPostedAndFlushesTheRest() {
		try (ConnectedPair pair = new ConnectedPair(IwarpOptions.DEFAULTS)) {
			MemoryRegion source = pair.client.register(64);
			MemoryRegion target = pair.server.register(64);
			pair.server.receive(7, target);
			pair.server.receive(8, target);
			pair.client.receive(9, source);
			pair.client.queuePair.postSend(pair.client.request.send(1).addSegment(source, 0, 64));
			pair.client.queuePair.disconnect();
			Endpoint.pollUntil(() -> pair.server.has(8) && pair.client.has(9) && !pair.server.faults.isEmpty()
					&& !pair.client.faults.isEmpty(), pair.client, pair.server);
			assertThat(pair.client.completion(1).status()).isEqualTo(WorkStatus.SUCCESS);
			assertThat(pair.server.completion(7).status()).isEqualTo(WorkStatus.SUCCESS);
			assertThat(pair.server.completion(8).status()).isEqualTo(WorkStatus.FLUSHED);
			assertThat(pair.client.completion(9).status()).isEqualTo(WorkStatus.FLUSHED);
			assertThat(pair.server.queuePair.state()).isEqualTo(QueuePairState.ERROR);
			assertThat(pair.server.faults).singleElement()
				.satisfies((fault) -> assertThat(fault.origin()).isEqualTo(Origin.DISCONNECT));
		}
	}

	@Test
	void readBeyondTheRegionIsRefusedAndNamedOnBothSides() {
		try (ConnectedPair pair = new ConnectedPair(IwarpOptions.DEFAULTS)) {
			MemoryRegion remote = pair.server.register(64);
			MemoryRegion back = pair.client.register(128);
			pair.client
				.send(pair.client.request.read(1, remote.remoteAddress(), remote.remoteKey()).addSegment(back, 0, 65));
			Endpoint.pollUntil(() -> pair.client.has(1) && !pair.server.faults.isEmpty(), pair.client, pair.server);
			assertThat(pair.client.completion(1).status()).isEqualTo(WorkStatus.REMOTE_ACCESS_ERROR);
			assertThat(pair.client.faults).singleElement()
				.satisfies((fault) -> assertThat(fault.origin()).isEqualTo(Origin.REMOTE));
			assertThat(pair.server.faults).singleElement()
				.satisfies((fault) -> assertThat(fault.status()).isEqualTo(WorkStatus.REMOTE_ACCESS_ERROR));
		}
	}

}
