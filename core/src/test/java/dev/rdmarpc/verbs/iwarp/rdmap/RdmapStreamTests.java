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

package dev.rdmarpc.verbs.iwarp.rdmap;

import java.nio.ByteBuffer;
import java.nio.channels.GatheringByteChannel;
import java.nio.channels.ScatteringByteChannel;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Random;
import java.util.SplittableRandom;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import dev.rdmarpc.verbs.AccessFlag;
import dev.rdmarpc.verbs.PostResult;
import dev.rdmarpc.verbs.ProtectionDomain;
import dev.rdmarpc.verbs.QueuePair;
import dev.rdmarpc.verbs.WorkRequest;
import dev.rdmarpc.verbs.WorkStatus;
import dev.rdmarpc.verbs.iwarp.wire.DdpControl;
import dev.rdmarpc.verbs.iwarp.wire.DdpUntaggedFlyweight;
import dev.rdmarpc.verbs.iwarp.wire.FpduFlyweight;
import dev.rdmarpc.verbs.iwarp.wire.ReadyToReceive;
import dev.rdmarpc.verbs.iwarp.wire.TerminateError;
import dev.rdmarpc.verbs.support.PostedReceive;
import dev.rdmarpc.verbs.support.ReceiveSource;
import dev.rdmarpc.verbs.support.RegisteredMemory;
import dev.rdmarpc.verbs.support.Registration;
import dev.rdmarpc.verbs.support.WorkQueue;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** Two streams joined in memory: what one side asks for happens at the other. */
class RdmapStreamTests {

	private static final int STAGING_BYTES = 2 * StagingMemory.MOST_BYTES;

	/** More than a step moves, and little enough for a pipe. */
	private static final int LARGE = 1_900_000;

	private final SplittableRandom random = new SplittableRandom(1);

	private final List<Side> sides = new ArrayList<>();

	private Side initiator;

	private Side responder;

	@AfterEach
	void nothingIsOutstanding() {
		for (Side side : this.sides) {
			side.stream.close();
			assertThat(side.buffers.staging().usedBytes()).as("staging memory").isZero();
			new ArrayList<>(side.regions).forEach(RegisteredMemory::close);
			assertThat(side.stags.size()).as("regions").isZero();
		}
	}

	private void connect(boolean crc, int pieceBytes) {
		Pipe forth = new Pipe(pieceBytes);
		Pipe back = new Pipe(pieceBytes);
		this.initiator = new Side(new Ends(back, forth), true, crc);
		this.responder = new Side(new Ends(forth, back), false, crc);
		this.sides.addAll(List.of(this.initiator, this.responder));
	}

	/** Lets both sides send and receive until nothing moves any more. */
	private void exchange() throws Exception {
		boolean moved = true;
		while (moved) {
			moved = this.initiator.stream.send();
			moved |= this.responder.stream.receive();
			moved |= this.responder.stream.send();
			moved |= this.initiator.stream.receive();
		}
	}

	private static void fill(RegisteredMemory region, long seed) {
		byte[] bytes = new byte[region.lengthBytes()];
		new Random(seed).nextBytes(bytes);
		region.memory().put(0, bytes);
	}

	@ParameterizedTest
	@CsvSource({ "false, 5, 1000000", "true, 5, 7", "false, 3000, 100", "true, 300000, 1000000", "false, 300000, 5000",
			"true, 300000, 70000" })
	void aSendFillsAReceive(boolean crc, int bytes, int pieceBytes) throws Exception {
		connect(crc, pieceBytes);
		RegisteredMemory source = this.initiator.register(bytes);
		RegisteredMemory target = this.responder.register(bytes, AccessFlag.LOCAL_WRITE);
		fill(source, bytes);
		this.responder.receive(new WorkRequest(2).receive(7).addSegment(target, 0, 3).addSegment(target, 3, bytes - 3));
		this.initiator.post(new WorkRequest(1).send(1).addSegment(source, 0, bytes));
		exchange();
		assertThat(this.responder.received).containsExactly(new Received(7, bytes, 0, false));
		assertThat(target.memory()).isEqualTo(source.memory());
		assertThat(this.initiator.headEnded()).isTrue();
		assertThat(this.responder.stream.unfinishedReceive()).isNull();
	}

	@ParameterizedTest
	@CsvSource({ "false, 100", "true, 100", "false, 1000000", "true, 1000000" })
	void readsAndWritesPassEachOther(boolean crc, int pieceBytes) throws Exception {
		connect(crc, pieceBytes);
		RegisteredMemory own = this.initiator.register(200_000, AccessFlag.LOCAL_WRITE);
		RegisteredMemory open = this.responder.register(200_000, AccessFlag.REMOTE_READ, AccessFlag.REMOTE_WRITE,
				AccessFlag.LOCAL_WRITE);
		fill(own, 1);
		fill(open, 2);
		this.initiator
			.post(new WorkRequest(1).read(1, open.remoteAddress(), open.remoteKey()).addSegment(own, 0, 100_000));
		this.initiator.post(new WorkRequest(1).write(2, open.remoteAddress() + 100_000, open.remoteKey())
			.addSegment(own, 100_000, 100_000));
		exchange();
		assertThat(own.memory().slice(0, 100_000)).isEqualTo(open.memory().slice(0, 100_000));
		assertThat(open.memory().slice(100_000, 100_000)).isEqualTo(own.memory().slice(100_000, 100_000));
		assertThat(this.initiator.headEnded()).isTrue();
		assertThat(this.responder.stream.isIdle()).isTrue();
	}

	@Test
	void aSendInvalidatesWhatWasLentToItsPeer() throws Exception {
		connect(true, 1000);
		RegisteredMemory target = this.responder.register(8, AccessFlag.LOCAL_WRITE);
		RegisteredMemory lent = this.responder.lend(8, AccessFlag.REMOTE_READ);
		this.responder.receive(new WorkRequest(1).receive(7).addSegment(target, 0, 8));
		this.initiator.post(new WorkRequest(1).sendWithInvalidate(1, lent.remoteKey()));
		exchange();
		assertThat(this.responder.received).containsExactly(new Received(7, 0, lent.remoteKey(), false));
		assertThat(lent.isValid()).isFalse();
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void whatIsNotThePeersIsRefusedAndThePeerToldSo(boolean ofAnotherDomain) throws Exception {
		connect(true, 1000);
		RegisteredMemory source = this.initiator.register(8);
		RegisteredMemory target = ofAnotherDomain
				? this.responder.register(Identity.of(ProtectionDomain.class), null, 8, AccessFlag.REMOTE_WRITE)
				: this.responder.register(8, AccessFlag.REMOTE_READ);
		this.initiator
			.post(new WorkRequest(1).write(1, target.remoteAddress(), target.remoteKey()).addSegment(source, 0, 8));
		assertThatExceptionOfType(ProtocolViolation.class).isThrownBy(this::exchange).satisfies((violation) -> {
			assertThat(violation.error()).isEqualTo(ofAnotherDomain ? TerminateError.DDP_TAGGED_STAG_NOT_ASSOCIATED
					: TerminateError.RDMAP_ACCESS_RIGHTS);
			this.responder.ends.write(this.responder.stream.lastWords(violation));
		});
		this.initiator.stream.receive();
		assertThat(this.initiator.terminated)
			.containsExactly(new Terminated(WorkStatus.REMOTE_ACCESS_ERROR, this.initiator.sendQueue.queue().head()));
		assertThat(target.memory()).isEqualTo(ByteBuffer.allocate(8));
	}

	/** A Send is there for whoever polls before what comes behind it is moved. */
	@Test
	void answersToReadsStayInTheChannelBehindASend() throws Exception {
		connect(false, 1_000_000);
		RegisteredMemory own = readTwice();
		this.initiator.stream.send();
		this.responder.stream.receive();
		this.initiator.receive(new WorkRequest(1).receive(7).addSegment(own, 200_000, 8));
		this.responder.post(new WorkRequest(1).send(1));
		this.responder.stream.send();
		this.initiator.stream.receive();
		assertThat(this.initiator.received).containsExactly(new Received(7, 0, 0, false));
		assertThat(this.initiator.headEnded()).isFalse();
		exchange();
		assertThat(this.initiator.headEnded()).isTrue();
	}

	/** Answers wait for it once, so that many Sends do not hold them up. */
	@Test
	void answersToReadsAreWrittenAStepAfterASendHasCome() throws Exception {
		connect(false, 1_000_000);
		readTwice();
		for (int i = 0; i < 2; i++) {
			this.responder.receive(new WorkRequest(1).receive(i));
			this.initiator.post(new WorkRequest(1).send(i));
			this.initiator.stream.send();
			this.responder.stream.receive();
			assertThat(this.responder.stream.yields()).as("after Send %d", i).isEqualTo(i == 0);
		}
		assertThat(this.responder.stream.yields()).isFalse();
		exchange();
		this.responder.receive(new WorkRequest(1).receive(2));
		this.initiator.post(new WorkRequest(1).send(2));
		exchange();
		assertThat(this.responder.stream.yields()).as("without Reads").isFalse();
		assertThat(this.responder.received).hasSize(3);
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void largeMessagesMoveInShortStepsWhileLatencyIsFavored(boolean favored) throws Exception {
		connect(false, 1_000_000);
		readTwice();
		this.initiator.stream.send();
		this.responder.stream.receive();
		this.responder.sendQueue.favorLatency(favored);
		this.initiator.sendQueue.favorLatency(favored);
		this.responder.stream.send();
		assertThat(this.responder.stream.isIdle()).as("both answers are written in a step").isEqualTo(!favored);
		while (!this.responder.stream.isIdle()) {
			assertThat(this.responder.stream.send()).isTrue();
		}
		this.initiator.stream.receive();
		long read = this.initiator.stream.framesReceived();
		exchange();
		assertThat(this.initiator.stream.framesReceived() == read).as("they are read in a step").isEqualTo(!favored);
		assertThat(this.initiator.headEnded()).isTrue();
	}

	/** The two take turns, so that what is small waits for one segment at most. */
	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void shortSendGoesBetweenSegmentsOfAReadResponse(boolean favored) throws Exception {
		connect(false, 4 * StagingMemory.MOST_BYTES);
		this.responder.sendQueue.favorLatency(favored);
		RegisteredMemory own = this.initiator.register(LARGE, AccessFlag.LOCAL_WRITE);
		RegisteredMemory open = this.responder.register(LARGE, AccessFlag.REMOTE_READ);
		RegisteredMemory source = this.responder.register(8);
		RegisteredMemory target = this.initiator.register(8, AccessFlag.LOCAL_WRITE);
		fill(open, 1);
		fill(source, 2);
		this.initiator.receive(new WorkRequest(1).receive(7).addSegment(target, 0, 8));
		this.initiator
			.post(new WorkRequest(1).read(1, open.remoteAddress(), open.remoteKey()).addSegment(own, 0, LARGE));
		this.initiator.stream.send();
		this.responder.stream.receive();
		this.responder.stream.send();
		List<Integer> begun = this.responder.ends.out.opcodes();
		assertThat(begun).isNotEmpty().containsOnly(DdpControl.OPCODE_READ_RESPONSE);
		assertThat(this.responder.stream.isIdle()).isFalse();
		this.responder.post(new WorkRequest(1).send(1).addSegment(source, 0, 8));
		while (!this.responder.stream.isIdle()) {
			assertThat(this.responder.stream.send()).isTrue();
		}
		List<Integer> written = this.responder.ends.out.opcodes();
		assertThat(written).containsOnlyOnce(DdpControl.OPCODE_SEND).endsWith(DdpControl.OPCODE_READ_RESPONSE);
		assertThat(written.indexOf(DdpControl.OPCODE_SEND)).as("frames before the Send, of %d", written.size())
			.isBetween(begun.size(), begun.size() + 1);
		exchange();
		assertThat(this.initiator.received).containsExactly(new Received(7, 8, 0, false));
		assertThat(target.memory()).isEqualTo(source.memory());
		assertThat(own.memory()).isEqualTo(open.memory());
		assertThat(this.initiator.headEnded()).isTrue();
	}

	private RegisteredMemory readTwice() {
		RegisteredMemory own = this.initiator.register(200_008, AccessFlag.LOCAL_WRITE);
		RegisteredMemory open = this.responder.register(100_000, AccessFlag.REMOTE_READ);
		for (int i = 0; i < 2; i++) {
			this.initiator.post(new WorkRequest(1).read(i, open.remoteAddress(), open.remoteKey())
				.addSegment(own, i * 100_000, 100_000));
		}
		return own;
	}

	@Test
	void nothingIsBegunWithoutRoomForItsCompletion() throws Exception {
		connect(false, 1000);
		this.responder.receive(new WorkRequest(1).receive(7));
		this.initiator.post(new WorkRequest(1).send(1));
		this.responder.room = false;
		exchange();
		this.responder.room = true;
		assertThat(this.responder.received).isEmpty();
		exchange();
		assertThat(this.responder.received).containsExactly(new Received(7, 0, 0, false));
	}

	private record Received(long id, long bytes, int invalidatedKey, boolean solicited) {
	}

	private record Terminated(WorkStatus status, long failedSequence) {
	}

	/** What a queue pair is to its stream. */
	private final class Side implements StreamOwner, ReceiveSource {

		private final StagTable stags = new StagTable(new SecureRandom());

		private final ProtectionDomain domain = Identity.of(ProtectionDomain.class);

		private final QueuePair queuePair = Identity.of(QueuePair.class);

		private final StreamBuffers buffers = new StreamBuffers(STAGING_BYTES, 2048, 8192);

		private final SendQueue sendQueue = new SendQueue(new WorkQueue(8, 2));

		private final WorkQueue receives = new WorkQueue(4, 2);

		private final List<RegisteredMemory> regions = new ArrayList<>();

		private final List<Received> received = new ArrayList<>();

		private final List<Terminated> terminated = new ArrayList<>();

		private final Ends ends;

		private final RdmapStream stream;

		private boolean room = true;

		Side(Ends ends, boolean initiates, boolean crc) {
			this.ends = ends;
			ConnectionParameters parameters = new ConnectionParameters(initiates, crc, 65_000, 2, 2,
					ReadyToReceive.WRITE);
			this.stream = new RdmapStream(ends, parameters, this.buffers, RdmapStreamTests.this.random,
					new PeerAccess(this.stags, this.domain, this.queuePair), this.sendQueue, this, this);
		}

		RegisteredMemory register(int bytes, AccessFlag... access) {
			return register(this.domain, null, bytes, access);
		}

		RegisteredMemory lend(int bytes, AccessFlag... access) {
			return register(this.domain, this.queuePair, bytes, access);
		}

		RegisteredMemory register(ProtectionDomain owner, @Nullable QueuePair borrower, int bytes,
				AccessFlag... access) {
			EnumSet<AccessFlag> flags = EnumSet.noneOf(AccessFlag.class);
			flags.addAll(List.of(access));
			Registration asked = Registration.of(ByteBuffer.allocateDirect(bytes), flags);
			RegisteredMemory region = this.stags
				.add((stag, base) -> new RegisteredMemory(owner, asked, borrower, stag, base, this.stags::remove));
			this.regions.add(region);
			return region;
		}

		void post(WorkRequest request) {
			assertThat(this.sendQueue.queue().post(request)).isEqualTo(PostResult.POSTED);
		}

		boolean headEnded() {
			this.sendQueue.written(this.stream.writtenBytes());
			return this.sendQueue.headEnded();
		}

		void receive(WorkRequest request) {
			assertThat(this.receives.post(request)).isEqualTo(PostResult.POSTED);
		}

		@Override
		public boolean tryTakeReceive(PostedReceive receive) {
			if (this.receives.isEmpty()) {
				return false;
			}
			receive.take(this.receives);
			return true;
		}

		@Override
		public int maxReceiveSegments() {
			return this.receives.maxSegments();
		}

		@Override
		public boolean hasRoom() {
			return this.room;
		}

		@Override
		public void received(long id, long bytes, int invalidatedKey, boolean solicited) {
			this.received.add(new Received(id, bytes, invalidatedKey, solicited));
		}

		@Override
		public void terminated(WorkStatus status, long failedSequence, String detail) {
			this.terminated.add(new Terminated(status, failedSequence));
		}

		@Override
		public StagingMemory.Block allocateStaging(int bytes) throws ProtocolViolation {
			StagingMemory.Block block = this.buffers.staging().tryAllocate(bytes);
			if (block == null) {
				throw ProtocolViolation.ofStream(TerminateError.MPA_LOCAL_CATASTROPHIC, "no memory");
			}
			return block;
		}

	}

	/** Bytes under way in one direction; a call moves no more of them than a piece. */
	private static final class Pipe {

		private final ByteBuffer bytes = ByteBuffer.allocate(4 * StagingMemory.MOST_BYTES).flip();

		private final int pieceBytes;

		Pipe(int pieceBytes) {
			this.pieceBytes = pieceBytes;
		}

		int write(ByteBuffer source, int most) {
			int count = Math.min(most, source.remaining());
			this.bytes.compact().put(source.slice(source.position(), count)).flip();
			source.position(source.position() + count);
			return count;
		}

		int read(ByteBuffer target, int most) {
			int count = Math.min(Math.min(most, target.remaining()), this.bytes.remaining());
			target.put(this.bytes.slice(this.bytes.position(), count));
			this.bytes.position(this.bytes.position() + count);
			return count;
		}

		/** What the frames are that were written and not read. */
		List<Integer> opcodes() {
			List<Integer> opcodes = new ArrayList<>();
			int at = this.bytes.position();
			while (at < this.bytes.limit()) {
				opcodes
					.add(DdpControl.opcode(DdpUntaggedFlyweight.control(this.bytes, at + FpduFlyweight.ULPDU_OFFSET)));
				at += FpduFlyweight.totalBytes(FpduFlyweight.ulpduLength(this.bytes, at));
			}
			return opcodes;
		}

	}

	/** The ends of two pipes that one side has. */
	private record Ends(Pipe in, Pipe out) implements ScatteringByteChannel, GatheringByteChannel {

		@Override
		public int read(ByteBuffer target) {
			return (int) read(new ByteBuffer[] { target });
		}

		@Override
		public long read(ByteBuffer[] targets) {
			return read(targets, 0, targets.length);
		}

		@Override
		public long read(ByteBuffer[] targets, int offset, int length) {
			int count = 0;
			for (int i = offset; i < offset + length; i++) {
				count += this.in.read(targets[i], this.in.pieceBytes - count);
			}
			return count;
		}

		@Override
		public int write(ByteBuffer source) {
			return (int) write(new ByteBuffer[] { source });
		}

		@Override
		public long write(ByteBuffer[] sources) {
			return write(sources, 0, sources.length);
		}

		@Override
		public long write(ByteBuffer[] sources, int offset, int length) {
			int count = 0;
			for (int i = offset; i < offset + length; i++) {
				count += this.out.write(sources[i], this.out.pieceBytes - count);
			}
			return count;
		}

		@Override
		public boolean isOpen() {
			return true;
		}

		@Override
		public void close() {
		}

	}

}
