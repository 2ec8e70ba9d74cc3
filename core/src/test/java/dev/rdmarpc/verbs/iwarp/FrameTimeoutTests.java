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
import java.time.Duration;
import java.util.Arrays;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import dev.rdmarpc.verbs.ConnectOptions;
import dev.rdmarpc.verbs.QueuePairFault.Origin;
import dev.rdmarpc.verbs.QueuePairState;
import dev.rdmarpc.verbs.WorkStatus;
import dev.rdmarpc.verbs.iwarp.wire.DdpUntaggedFlyweight;
import dev.rdmarpc.verbs.iwarp.wire.Fpdu;
import dev.rdmarpc.verbs.iwarp.wire.TerminateError;
import dev.rdmarpc.verbs.iwarp.wire.TerminateFlyweight;

import static org.assertj.core.api.Assertions.assertThat;

/** A peer that begins a frame and does not go on. */
@Tag("slow")
class FrameTimeoutTests {

	private static final Duration LIMIT = Duration.ofMillis(120);

	/** Longer than a pause of this process, where a frame must not be overdue. */
	private static final Duration LONG_LIMIT = Duration.ofMillis(800);

	private static final int FRAME_BYTES = 20_000;

	private static RawSession session(Duration limit, boolean crcEnabled) throws Exception {
		return new RawSession(IwarpOptions.DEFAULTS.withFrameTimeout(limit), crcEnabled, ConnectOptions.DEFAULTS);
	}

	/** A good frame but for its length, which promises more than there is. */
	private static byte[] withTooGreatALength(boolean crcEnabled) {
		byte[] frame = Fpdu.frame(Fpdu.send(1, new byte[100]), crcEnabled);
		frame[0] ^= 0x40;
		return frame;
	}

	private static void assertOverdue(RawSession session) throws Exception {
		assertThat(session.endpoint.faults).singleElement().satisfies((fault) -> {
			assertThat(fault.status()).isEqualTo(WorkStatus.REMOTE_OPERATION_ERROR);
			assertThat(fault.origin()).isEqualTo(Origin.LOCAL);
			assertThat(fault.isByPeer()).isTrue();
			assertThat(fault.detail()).contains("did not arrive whole in time").contains("2/0/0x01");
		});
		ByteBuffer terminate = session.peer.readTerminate();
		int body = DdpUntaggedFlyweight.HEADER_BYTES;
		assertThat(TerminateError.of(TerminateFlyweight.layer(terminate, body),
				TerminateFlyweight.type(terminate, body), TerminateFlyweight.code(terminate, body)))
			.isEqualTo(TerminateError.MPA_CONNECTION_LOST);
		assertThat(TerminateFlyweight.headerControl(terminate, body)).isZero();
		assertThat(session.peer.readToEnd()).isZero();
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void wrongLengthEndsTheConnectionInTime(boolean crcEnabled) throws Exception {
		try (RawSession session = session(LIMIT, crcEnabled)) {
			session.endpoint.receive(1, session.endpoint.register(FRAME_BYTES));
			long start = System.nanoTime();
			session.peer.write(withTooGreatALength(crcEnabled));
			Endpoint.pollUntil(() -> !session.endpoint.faults.isEmpty(), session.endpoint);
			assertThat(System.nanoTime() - start).isGreaterThanOrEqualTo(LIMIT.toNanos());
			assertThat(session.endpoint.completion(1).status()).isEqualTo(WorkStatus.FLUSHED);
			assertOverdue(session);
		}
	}

	@Test
	void whoAwaitsIsWokenInTime() throws Exception {
		try (RawSession session = session(LIMIT, false)) {
			session.endpoint.receive(1, session.endpoint.register(FRAME_BYTES));
			session.peer.write(withTooGreatALength(false));
			session.endpoint.completionQueue.requestNotification(false);
			assertThat(session.endpoint.completionQueue.await(Endpoint.DEADLINE.toNanos())).isTrue();
			session.endpoint.poll();
			assertThat(session.endpoint.completion(1).status()).isEqualTo(WorkStatus.FLUSHED);
			assertOverdue(session);
		}
	}

	/** Long payloads are read straight to their place, in another state of the stream. */
	@Test
	void restOfALongPayloadIsNotWaitedForEither() throws Exception {
		try (RawSession session = session(LIMIT, false)) {
			session.endpoint.receive(1, session.endpoint.register(FRAME_BYTES));
			byte[] frame = Fpdu.frame(Fpdu.send(1, new byte[FRAME_BYTES]), false);
			session.peer.write(Arrays.copyOf(frame, 5000));
			Endpoint.pollUntil(() -> !session.endpoint.faults.isEmpty(), session.endpoint);
			assertThat(session.endpoint.completion(1).status()).isEqualTo(WorkStatus.FLUSHED);
			assertOverdue(session);
		}
	}

	@Test
	void laterBytesDoNotExtendTheTime() throws Exception {
		try (RawSession session = session(LIMIT, false)) {
			session.endpoint.receive(1, session.endpoint.register(FRAME_BYTES));
			session.peer.write(withTooGreatALength(false));
			long next = System.nanoTime();
			int trickled = 0;
			while (session.endpoint.faults.isEmpty() && trickled < 10_000) {
				session.endpoint.poll();
				if (System.nanoTime() - next >= 0) {
					session.peer.write(new byte[1]);
					trickled++;
					next += 1_000_000;
				}
			}
			assertThat(trickled).isBetween(2, 9_999);
			assertOverdue(session);
		}
	}

	@Test
	void framesInTimeMayComeInPiecesForLong() throws Exception {
		try (RawSession session = session(LONG_LIMIT, true)) {
			int count = 20;
			for (int i = 0; i < count; i++) {
				session.endpoint.receive(i, session.endpoint.register(64));
			}
			long next = System.nanoTime();
			for (int i = 0; i < count; i++) {
				byte[] frame = Fpdu.frame(Fpdu.send(i + 1, new byte[64]), true);
				session.peer.write(Arrays.copyOf(frame, 50));
				next += LONG_LIMIT.toNanos() / 16;
				while (System.nanoTime() - next < 0) {
					session.endpoint.poll();
				}
				session.peer.write(Arrays.copyOfRange(frame, 50, frame.length));
			}
			Endpoint.pollUntil(() -> session.endpoint.completions.size() == count, session.endpoint);
			assertThat(session.endpoint.completions).allMatch((done) -> done.status() == WorkStatus.SUCCESS);
			assertThat(session.endpoint.faults).isEmpty();
		}
	}

	/** Neither the peer nor the network is to blame when nobody reads. */
	@Test
	void timeInWhichNobodyReadsIsNoFaultOfThePeer() throws Exception {
		try (RawSession session = session(LONG_LIMIT, true)) {
			session.endpoint.receive(1, session.endpoint.register(64));
			byte[] frame = Fpdu.frame(Fpdu.send(1, new byte[64]), true);
			session.peer.write(Arrays.copyOf(frame, 50));
			for (int i = 0; i < 100; i++) {
				session.endpoint.poll();
			}
			session.peer.write(Arrays.copyOfRange(frame, 50, frame.length));
			long until = System.nanoTime() + LONG_LIMIT.toNanos() + 100_000_000;
			while (System.nanoTime() - until < 0) {
				Thread.onSpinWait();
			}
			session.endpoint.completionQueue.requestNotification(false);
			assertThat(session.endpoint.completionQueue.await(Endpoint.DEADLINE.toNanos())).isTrue();
			session.endpoint.poll();
			assertThat(session.endpoint.completion(1).status()).isEqualTo(WorkStatus.SUCCESS);
			assertThat(session.endpoint.queuePair.state()).isEqualTo(QueuePairState.READY_TO_SEND);
		}
	}

	@Test
	void noLimitIsNoLimit() throws Exception {
		try (RawSession session = session(Duration.ZERO, true)) {
			session.endpoint.receive(1, session.endpoint.register(64));
			byte[] frame = Fpdu.frame(Fpdu.send(1, new byte[64]), true);
			session.peer.write(Arrays.copyOf(frame, 50));
			long until = System.nanoTime() + LIMIT.toNanos();
			while (System.nanoTime() - until < 0) {
				session.endpoint.poll();
			}
			session.peer.write(Arrays.copyOfRange(frame, 50, frame.length));
			Endpoint.pollUntil(() -> session.endpoint.has(1), session.endpoint);
			assertThat(session.endpoint.completion(1).status()).isEqualTo(WorkStatus.SUCCESS);
		}
	}

}
