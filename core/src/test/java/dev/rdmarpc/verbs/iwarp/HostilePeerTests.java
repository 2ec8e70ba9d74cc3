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
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

import dev.rdmarpc.verbs.AccessFlag;
import dev.rdmarpc.verbs.ConnectOptions;
import dev.rdmarpc.verbs.MemoryRegion;
import dev.rdmarpc.verbs.ProtectionDomain;
import dev.rdmarpc.verbs.QueuePair;
import dev.rdmarpc.verbs.QueuePairFault;
import dev.rdmarpc.verbs.QueuePairOptions;
import dev.rdmarpc.verbs.QueuePairState;
import dev.rdmarpc.verbs.WorkStatus;
import dev.rdmarpc.verbs.iwarp.wire.DdpControl;
import dev.rdmarpc.verbs.iwarp.wire.DdpTaggedFlyweight;
import dev.rdmarpc.verbs.iwarp.wire.DdpUntaggedFlyweight;
import dev.rdmarpc.verbs.iwarp.wire.Fpdu;
import dev.rdmarpc.verbs.iwarp.wire.ReadRequestFlyweight;
import dev.rdmarpc.verbs.iwarp.wire.TerminateError;
import dev.rdmarpc.verbs.iwarp.wire.TerminateFlyweight;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A peer that breaks the protocol gets the Terminate that the RFCs name and then an
 * orderly end, its header back, and no byte anywhere.
 */
class HostilePeerTests {

	private static final int LENGTH = ProtocolBreach.REGION_BYTES;

	private static final byte[] PAYLOAD = ProtocolBreach.payload();

	@ParameterizedTest
	@MethodSource("dev.rdmarpc.verbs.iwarp.ProtocolBreach#all")
	void breachIsAnsweredByTheTerminateForIt(ProtocolBreach breach) throws Exception {
		check(breach, false);
	}

	@ParameterizedTest
	@MethodSource("dev.rdmarpc.verbs.iwarp.ProtocolBreach#all")
	void breachWithGoodCrcIsAnsweredByTheTerminateForIt(ProtocolBreach breach) throws Exception {
		check(breach, true);
	}

	private void check(ProtocolBreach breach, boolean crcEnabled) throws IOException {
		try (RawSession session = new RawSession(crcEnabled)) {
			Endpoint endpoint = session.endpoint;
			ProtectionDomain otherDomain = endpoint.device.allocateProtectionDomain();
			QueuePair stranger = endpoint.domain
				.createQueuePair(new QueuePairOptions(endpoint.completionQueue, null, 1, 1, 1, 1, (pair, fault) -> {
				}));
			ProtocolBreach.Memory memory = new ProtocolBreach.Memory(endpoint.register(LENGTH),
					endpoint.domain.registerMemory(ByteBuffer.allocateDirect(LENGTH),
							EnumSet.of(AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_READ)),
					endpoint.domain.registerMemory(ByteBuffer.allocateDirect(LENGTH),
							EnumSet.of(AccessFlag.LOCAL_WRITE)),
					otherDomain.registerMemory(ByteBuffer.allocateDirect(LENGTH), Endpoint.ALL_ACCESS),
					endpoint.lend(endpoint.queuePair, LENGTH), endpoint.lend(stranger, LENGTH));
			MemoryRegion received = endpoint.register(LENGTH);
			for (int i = 0; i < breach.receives(); i++) {
				endpoint.receive(i, received);
			}
			List<byte[]> segments = breach.segments().make(memory);
			for (byte[] segment : segments) {
				session.peer.segment(segment);
			}
			Endpoint.pollUntil(() -> !endpoint.faults.isEmpty(), endpoint);
			ByteBuffer terminate = session.peer.readTerminate();
			assertTerminate(terminate, breach.error(), segments.get(segments.size() - 1));
			assertThat(session.peer.readToEnd()).isZero();
			assertThat(endpoint.queuePair.state()).isEqualTo(QueuePairState.ERROR);
			QueuePairFault fault = endpoint.faults.get(0);
			assertThat(fault.origin()).isEqualTo(QueuePairFault.Origin.LOCAL);
			assertThat(fault.detail()).contains(breach.error().toString());
			Endpoint.pollUntil(() -> endpoint.completions.size() == breach.receives(), endpoint);
			for (MemoryRegion untouched : memory.all()) {
				assertThat(untouched.isValid()).isTrue();
				assertThat(untouched.memory().duplicate()).isEqualTo(ByteBuffer.allocate(LENGTH));
			}
		}
	}

	static void assertTerminate(ByteBuffer terminate, TerminateError error, byte[] segment) {
		assertThat(DdpUntaggedFlyweight.queueNumber(terminate, 0)).isEqualTo(DdpControl.QUEUE_TERMINATE);
		assertThat(DdpUntaggedFlyweight.messageSequenceNumber(terminate, 0)).isEqualTo(1);
		int body = DdpUntaggedFlyweight.HEADER_BYTES;
		assertThat(TerminateError.describe(TerminateFlyweight.layer(terminate, body),
				TerminateFlyweight.type(terminate, body), TerminateFlyweight.code(terminate, body)))
			.isEqualTo(TerminateError.describe(error.layer(), error.type(), error.code()));
		int control = DdpTaggedFlyweight.control(ByteBuffer.wrap(segment), 0);
		int ddpBytes = DdpControl.isTagged(control) ? DdpTaggedFlyweight.HEADER_BYTES
				: DdpUntaggedFlyweight.HEADER_BYTES;
		boolean read = DdpControl.opcode(control) == DdpControl.OPCODE_READ_REQUEST;
		int headerBytes = Math.min(segment.length, ddpBytes + (read ? ReadRequestFlyweight.HEADER_BYTES : 0));
		assertThat(TerminateFlyweight.segmentLength(terminate, body)).isEqualTo(segment.length);
		byte[] header = new byte[headerBytes];
		terminate.get(body + TerminateFlyweight.TERMINATED_HEADER_OFFSET, header);
		assertThat(header).isEqualTo(Arrays.copyOf(segment, headerBytes));
	}

	@ParameterizedTest
	@ValueSource(ints = { 0, 1, 5, 20, 21, 30, 43, 44, 47 })
	void anyWrongByteUnderCrcEndsTheConnection(int position) throws Exception {
		try (RawSession session = new RawSession(true)) {
			MemoryRegion received = session.endpoint.register(LENGTH);
			session.endpoint.receive(1, received);
			byte[] frame = Fpdu.frame(Fpdu.send(1, new byte[22]), true);
			assertThat(frame).hasSize(48);
			frame[position] ^= 0x04;
			session.peer.write(frame);
			session.peer.socket().shutdownOutput();
			Endpoint.pollUntil(() -> session.endpoint.has(1), session.endpoint);
			assertThat(session.endpoint.completion(1).status()).isEqualTo(WorkStatus.FLUSHED);
			if (position > 1) {
				ByteBuffer terminate = session.peer.readTerminate();
				int body = DdpUntaggedFlyweight.HEADER_BYTES;
				assertThat(TerminateError.of(TerminateFlyweight.layer(terminate, body),
						TerminateFlyweight.type(terminate, body), TerminateFlyweight.code(terminate, body)))
					.isEqualTo(TerminateError.MPA_CRC);
				assertThat(TerminateFlyweight.headerControl(terminate, body)).isZero();
			}
		}
	}

	@ParameterizedTest
	@ValueSource(ints = { 0, 1, 2, 13 })
	void frameShorterThanAHeaderEndsTheConnection(int length) throws Exception {
		try (RawSession session = new RawSession(false)) {
			session.peer.segment(Arrays.copyOf(Fpdu.write(1, 0, PAYLOAD), length));
			Endpoint.pollUntil(() -> !session.endpoint.faults.isEmpty(), session.endpoint);
			session.peer.readTerminate();
			assertThat(session.peer.readToEnd()).isZero();
		}
	}

	@Test
	void moreReadsThanAgreedOnAreRefused() throws Exception {
		ConnectOptions oneRead = new ConnectOptions(new byte[0], 1, 1, Endpoint.DEADLINE.toNanos());
		try (RawSession session = new RawSession(IwarpOptions.DEFAULTS, false, oneRead)) {
			MemoryRegion source = session.endpoint.register(LENGTH);
			byte[] first = Fpdu.frame(Fpdu.readRequest(1, 7, 0, 8, source.remoteKey(), source.remoteAddress()), false);
			byte[] second = Fpdu.readRequest(2, 7, 0, 8, source.remoteKey(), source.remoteAddress());
			ByteBuffer both = ByteBuffer.allocate(2 * first.length);
			session.peer.write(both.put(first).put(Fpdu.frame(second, false)).flip());
			Endpoint.pollUntil(() -> !session.endpoint.faults.isEmpty(), session.endpoint);
			assertTerminate(session.peer.readTerminate(), TerminateError.DDP_UNTAGGED_NO_BUFFER, second);
		}
	}

	@Test
	void closingWithinAFrameIsALostConnection() throws Exception {
		try (RawSession session = new RawSession(false)) {
			MemoryRegion received = session.endpoint.register(LENGTH);
			session.endpoint.receive(1, received);
			session.peer.write(Arrays.copyOf(Fpdu.frame(Fpdu.send(1, PAYLOAD), false), 30));
			session.peer.socket().shutdownOutput();
			Endpoint.pollUntil(() -> session.endpoint.has(1), session.endpoint);
			assertThat(session.endpoint.completion(1).status()).isEqualTo(WorkStatus.FLUSHED);
			assertThat(session.endpoint.queuePair.fault()).isNotNull()
				.satisfies((fault) -> assertThat(fault.status()).isEqualTo(WorkStatus.CONNECTION_LOST));
		}
	}

	@Test
	void readResponsesMustMatchTheOldestRead() throws Exception {
		for (TerminateError error : List.of(TerminateError.DDP_TAGGED_INVALID_STAG,
				TerminateError.DDP_TAGGED_BASE_OR_BOUNDS)) {
			for (int variant = 0; variant < 3; variant++) {
				checkReadResponse(error, variant);
			}
		}
	}

	private void checkReadResponse(TerminateError error, int variant) throws IOException {
		try (RawSession session = new RawSession(true)) {
			MemoryRegion sink = session.endpoint.register(LENGTH);
			session.peer.segment(Fpdu.write(1, 0, new byte[0]));
			session.endpoint.send(session.endpoint.request.read(5, 0x1000, 0x77).addSegment(sink, 0, 16));
			Endpoint.pollUntil(() -> session.endpoint.queuePair.state() == QueuePairState.READY_TO_SEND,
					session.endpoint);
			ByteBuffer request = session.peer.awaitSegment(session.endpoint);
			int stag = ReadRequestFlyweight.sinkStag(request, DdpUntaggedFlyweight.HEADER_BYTES);
			long offset = ReadRequestFlyweight.sinkTaggedOffset(request, DdpUntaggedFlyweight.HEADER_BYTES);
			boolean wrongStag = error == TerminateError.DDP_TAGGED_INVALID_STAG;
			byte[] response = Fpdu.tagged(true, DdpControl.OPCODE_READ_RESPONSE, wrongStag ? stag + 1 : stag,
					(variant == 0) ? offset + 4 : offset, new byte[new int[] { 12, 17, 15 }[variant]]);
			session.peer.segment(response);
			Endpoint.pollUntil(() -> session.endpoint.has(5), session.endpoint);
			assertThat(session.endpoint.completion(5).status()).isNotEqualTo(WorkStatus.SUCCESS);
			assertTerminate(session.peer.readTerminate(), error, response);
		}
	}

	@Test
	void dataInFlightDoesNotResetTheTerminateAway() throws Exception {
		try (RawSession session = new RawSession(false)) {
			session.peer.segment(Fpdu.send(1, PAYLOAD));
			byte[] more = Fpdu.frame(Fpdu.send(2, new byte[60_000]), false);
			session.peer.write(more).write(more);
			Endpoint.pollUntil(() -> !session.endpoint.faults.isEmpty(), session.endpoint);
			session.endpoint.queuePair.close();
			session.peer.write(more);
			assertTerminate(session.peer.readTerminate(), TerminateError.DDP_UNTAGGED_NO_BUFFER, Fpdu.send(1, PAYLOAD));
			assertThat(session.peer.readToEnd()).isZero();
		}
	}

}
