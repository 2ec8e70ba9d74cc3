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
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import dev.rdmarpc.verbs.ConnectOptions;
import dev.rdmarpc.verbs.MemoryRegion;
import dev.rdmarpc.verbs.iwarp.wire.DdpControl;
import dev.rdmarpc.verbs.iwarp.wire.Fpdu;
import dev.rdmarpc.verbs.iwarp.wire.FpduFlyweight;

import static org.assertj.core.api.Assertions.assertThat;

/** In which form and order Sends and Read Responses leave. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class OutboundOrderTests {

	private static final int READS = 12;

	private static final int READ_BYTES = 256 * 1024;

	private static final int SENDS = 3;

	private static final int SEND_BYTES = 32;

	/**
	 * Sends that are posted while the socket is full neither wait for all responses nor
	 * interrupt one.
	 */
	@Test
	void shortSendsGoBetweenReadResponses() throws Exception {
		IwarpOptions options = IwarpOptions.DEFAULTS.withSocketBuffers(64 * 1024, 0);
		try (RawSession session = new RawSession(options, false, ConnectOptions.DEFAULTS)) {
			Endpoint endpoint = session.endpoint;
			MemoryRegion memory = endpoint.register(READ_BYTES);
			for (int msn = 1; msn <= READS; msn++) {
				session.peer
					.segment(Fpdu.readRequest(msn, 1, 0, READ_BYTES, memory.remoteKey(), memory.remoteAddress()));
			}
			for (int i = 0; i < 1000; i++) {
				endpoint.poll();
			}
			for (int i = 0; i < SENDS; i++) {
				endpoint.send(endpoint.request.send(i).addSegment(memory, 0, SEND_BYTES));
			}
			CompletableFuture<List<Integer>> received = new CompletableFuture<>();
			Thread reader = new Thread(() -> read(session.peer, received));
			reader.start();
			Endpoint.pollUntil(received::isDone, endpoint);
			reader.join();
			assertOrder(received.join());
		}
	}

	@Test
	void aSendLeavesAsOneFrame() throws Exception {
		byte[] payload = "ping-payload!".getBytes(StandardCharsets.US_ASCII);
		try (RawSession session = new RawSession(true)) {
			MemoryRegion source = session.endpoint.register(64);
			source.memory().put(3, payload);
			session.peer.segment(Fpdu.write(1, 0, new byte[0]));
			session.endpoint.send(session.endpoint.request.send(1).addSegment(source, 3, payload.length));
			Endpoint.pollUntil(() -> session.endpoint.has(1), session.endpoint);
			byte[] expected = Fpdu.frame(Fpdu.send(1, payload), true);
			assertThat(session.peer.socket().getInputStream().readNBytes(expected.length)).isEqualTo(expected);
		}
	}

	private static void read(RawPeer peer, CompletableFuture<List<Integer>> received) {
		List<Integer> controls = new ArrayList<>();
		try {
			for (int sends = 0, reads = 0; sends < SENDS || reads < READS;) {
				ByteBuffer segment = peer.readSegment();
				int control = segment.getShort(0) & 0xFFFF;
				boolean send = DdpControl.opcode(control) == DdpControl.OPCODE_SEND;
				sends += send ? 1 : 0;
				reads += (!send && DdpControl.isLast(control)) ? 1 : 0;
				controls.add(control);
			}
			received.complete(controls);
		}
		catch (Exception ex) {
			received.completeExceptionally(ex);
		}
	}

	private static void assertOrder(List<Integer> controls) {
		int lastSend = -1;
		boolean within = false;
		for (int i = 0; i < controls.size(); i++) {
			int control = controls.get(i);
			if (DdpControl.opcode(control) == DdpControl.OPCODE_SEND) {
				assertThat(within).as("within a Read Response, at segment %d of %d", i, controls.size()).isFalse();
				lastSend = i;
			}
			else {
				within = !DdpControl.isLast(control);
			}
		}
		assertThat(lastSend).as("the last Send among %d segments", controls.size())
			.isLessThan(controls.size() - 2 * READ_BYTES / FpduFlyweight.MAX_ULPDU_BYTES);
	}

}
