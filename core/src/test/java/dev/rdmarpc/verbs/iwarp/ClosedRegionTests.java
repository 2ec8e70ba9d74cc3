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

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import dev.rdmarpc.verbs.MemoryRegion;
import dev.rdmarpc.verbs.QueuePairFault;
import dev.rdmarpc.verbs.WorkStatus;
import dev.rdmarpc.verbs.iwarp.wire.DdpControl;
import dev.rdmarpc.verbs.iwarp.wire.DdpUntaggedFlyweight;
import dev.rdmarpc.verbs.iwarp.wire.Fpdu;
import dev.rdmarpc.verbs.iwarp.wire.ReadRequestFlyweight;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A region that is closed while a peer takes its time: its memory, which may be gone by
 * then, is not looked at again.
 */
@Tag("slow")
class ClosedRegionTests {

	private static final int LENGTH = 60_000;

	private static final int LONG = 64 << 20;

	private static final long WORK = 7;

	private final byte[] payload = new byte[LENGTH];

	ClosedRegionTests() {
		new Random(20261122).nextBytes(this.payload);
	}

	/** Sends the first bytes of a frame, and more as soon as those were read. */
	private static void sendSlowly(RawSession session, MemoryRegion target, byte[] frame, int bytes)
			throws IOException {
		int first = frame.length - LENGTH + 500;
		session.peer.write(Arrays.copyOf(frame, first));
		Endpoint.pollUntil(() -> target.memory().getLong(0) != 0, session.endpoint);
		session.peer.write(Arrays.copyOfRange(frame, first, bytes));
		if (bytes > LENGTH) {
			Endpoint.pollUntil(() -> target.memory().getLong(LENGTH - 8) != 0, session.endpoint);
		}
	}

	private static void close(MemoryRegion region) {
		region.close();
		for (int i = 0; i < region.lengthBytes(); i++) {
			region.memory().put(i, (byte) 0x11);
		}
	}

	private static void assertEndsAtHome(RawSession session, MemoryRegion region) {
		Endpoint.pollUntil(() -> session.endpoint.has(WORK), session.endpoint);
		assertThat(session.endpoint.completion(WORK).status()).isEqualTo(WorkStatus.LOCAL_PROTECTION_ERROR);
		assertThat(session.endpoint.faults).singleElement()
			.extracting(QueuePairFault::status, QueuePairFault::origin)
			.containsExactly(WorkStatus.LOCAL_PROTECTION_ERROR, QueuePairFault.Origin.LOCAL);
		for (int i = 0; i < region.lengthBytes(); i++) {
			assertThat(region.memory().get(i)).isEqualTo((byte) 0x11);
		}
	}

	/** The CRC, or some of the payload and the CRC, come after the end of the region. */
	@ParameterizedTest
	@ValueSource(ints = { 4, 1000 })
	void ofASendThatHasBegunNothingIsSummedUp(int missing) throws Exception {
		try (RawSession session = new RawSession(true)) {
			MemoryRegion region = session.endpoint.register(LENGTH);
			session.endpoint.receive(WORK, region);
			byte[] frame = Fpdu.frame(Fpdu.send(1, this.payload), true);
			sendSlowly(session, region, frame, frame.length - missing);
			close(region);
			session.peer.write(Arrays.copyOfRange(frame, frame.length - missing, frame.length));
			assertEndsAtHome(session, region);
		}
	}

	@ParameterizedTest
	@ValueSource(ints = { 4, 1000 })
	void ofAReadThatIsBeingAnsweredNothingIsSummedUp(int missing) throws Exception {
		try (RawSession session = new RawSession(true)) {
			MemoryRegion region = session.endpoint.register(LENGTH);
			ByteBuffer request = ask(session, region);
			byte[] frame = Fpdu.frame(Fpdu.tagged(true, DdpControl.OPCODE_READ_RESPONSE,
					ReadRequestFlyweight.sinkStag(request, DdpUntaggedFlyweight.HEADER_BYTES),
					ReadRequestFlyweight.sinkTaggedOffset(request, DdpUntaggedFlyweight.HEADER_BYTES), this.payload),
					true);
			sendSlowly(session, region, frame, frame.length - missing);
			close(region);
			session.peer.write(Arrays.copyOfRange(frame, frame.length - missing, frame.length));
			assertEndsAtHome(session, region);
		}
	}

	/** Posts a Read and returns the request as the peer sees it. */
	private ByteBuffer ask(RawSession session, MemoryRegion sink) throws IOException {
		session.endpoint.receive(1, session.endpoint.register(1));
		session.peer.segment(Fpdu.send(1, new byte[1]));
		Endpoint.pollUntil(() -> session.endpoint.has(1), session.endpoint);
		session.endpoint.send(session.endpoint.request.read(WORK, 0, 1).addSegment(sink, 0, LENGTH));
		return session.peer.awaitSegment(session.endpoint);
	}

	/** What a Read Request tells the peer names a place for the response only. */
	@Test
	void theSinkOfAReadIsNotOpenToWrites() throws Exception {
		try (RawSession session = new RawSession(false)) {
			MemoryRegion region = session.endpoint.register(LENGTH);
			ByteBuffer request = ask(session, region);
			session.peer.segment(Fpdu.write(ReadRequestFlyweight.sinkStag(request, DdpUntaggedFlyweight.HEADER_BYTES),
					ReadRequestFlyweight.sinkTaggedOffset(request, DdpUntaggedFlyweight.HEADER_BYTES), this.payload));
			Endpoint.pollUntil(() -> session.endpoint.has(WORK), session.endpoint);
			assertThat(session.endpoint.completion(WORK).status()).isEqualTo(WorkStatus.FLUSHED);
			assertThat(session.endpoint.faults).singleElement()
				.extracting(QueuePairFault::status)
				.isEqualTo(WorkStatus.REMOTE_ACCESS_ERROR);
			assertThat(region.memory().duplicate()).isEqualTo(ByteBuffer.allocate(LENGTH));
		}
	}

	/**
	 * The peer reads all the time, so that nothing that was begun waits in the socket.
	 */
	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void ofALongMessageNothingIsSentOnceItsMemoryIsGivenUp(boolean write) throws Exception {
		for (int round = 1; round <= 8; round++) {
			try (RawSession session = new RawSession(false)) {
				MemoryRegion region = session.endpoint.register(LONG);
				session.endpoint.receive(1, session.endpoint.register(1));
				session.peer.segment(Fpdu.send(1, new byte[1]));
				Endpoint.pollUntil(() -> session.endpoint.has(1), session.endpoint);
				AtomicLong arrived = new AtomicLong();
				CompletableFuture<Integer> longest = CompletableFuture
					.supplyAsync(() -> longestRun(session.peer.socket(), arrived));
				session.endpoint
					.send((write ? session.endpoint.request.write(WORK, 0, 1) : session.endpoint.request.send(WORK))
						.addSegment(region, 0, LONG));
				int begun = round << 20;
				Endpoint.pollUntil(() -> arrived.get() > begun, session.endpoint);
				close(region);
				Endpoint.pollUntil(() -> session.endpoint.has(WORK), session.endpoint);
				assertThat(session.endpoint.completion(WORK).status()).isEqualTo(WorkStatus.LOCAL_PROTECTION_ERROR);
				assertThat(longest.get(10, TimeUnit.SECONDS)).as("round %s: bytes that were written afterwards", round)
					.isLessThan(64);
			}
		}
	}

	private static int longestRun(Socket socket, AtomicLong arrived) {
		int longest = 0;
		int run = 0;
		byte[] chunk = new byte[1 << 18];
		try {
			int read = socket.getInputStream().read(chunk);
			while (read >= 0) {
				arrived.addAndGet(read);
				for (int i = 0; i < read; i++) {
					run = (chunk[i] == 0x11) ? run + 1 : 0;
					longest = Math.max(longest, run);
				}
				read = socket.getInputStream().read(chunk);
			}
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		return longest;
	}

}
