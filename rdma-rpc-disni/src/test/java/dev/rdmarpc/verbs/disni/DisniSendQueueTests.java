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

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

import com.ibm.disni.verbs.SVCPostSend;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import dev.rdmarpc.verbs.WorkRequest;
import dev.rdmarpc.verbs.WorkStatus;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** The send queue against an adapter that the test speaks for. */
class DisniSendQueueTests {

	private static final long SEED = 20261121;

	private static final int DEPTH = 8;

	private final List<String> ended = new ArrayList<>();

	private int posted;

	private final SegmentList segments = new SegmentList(4);

	private final DisniSendQueue queue = new DisniSendQueue(
			(id, status, opcode, bytes, key) -> report(opcode + " " + id + " " + status), DEPTH, DEPTH, true, 0);

	private @Nullable Error failure;

	@BeforeEach
	void open() {
		ByteBuffer memory = ByteBuffer.allocate(1 << 16);
		this.queue.open(new SendBatch(new PreparedMemory<>(new Accepting(), memory, 0), 4), 1);
	}

	private void report(String end) {
		Error once = this.failure;
		if (once != null) {
			this.failure = null;
			throw once;
		}
		this.ended.add(end);
	}

	private void post(WorkRequest request, int segmentCount) throws IOException {
		this.segments.clear();
		for (int i = 0; i < segmentCount; i++) {
			this.segments.add(i, 1, 7);
		}
		this.queue.enter(request, this.segments);
		this.queue.post();
	}

	private void send(long id) throws IOException {
		post(new WorkRequest(0).send(id), 1);
	}

	private void read(long id) throws IOException {
		post(new WorkRequest(0).read(id, 0, 0), 1);
	}

	private List<String> takeEnded() {
		List<String> taken = List.copyOf(this.ended);
		this.ended.clear();
		return taken;
	}

	@Test
	void aSendThatEndsBeforeAnEarlierReadIsReportedAfterIt() throws Exception {
		read(10);
		send(11);
		send(12);
		assertThat(this.queue.complete(1, WorkStatus.SUCCESS)).isFalse();
		assertThat(this.queue.complete(1, WorkStatus.SUCCESS)).as("said twice").isFalse();
		assertThat(takeEnded()).isEmpty();
		assertThat(this.queue.atAdapter()).isEqualTo(3);
		assertThat(this.queue.complete(0, WorkStatus.SUCCESS)).isTrue();
		assertThat(takeEnded()).containsExactly("READ 10 SUCCESS", "SEND 11 SUCCESS");
		assertThat(this.queue.complete(2, WorkStatus.SUCCESS)).isTrue();
		assertThat(takeEnded()).containsExactly("SEND 12 SUCCESS");
		assertThat(this.queue.atAdapter()).isZero();
	}

	@Test
	void whateverTheAdaptersOrderEachIsReportedOnceInPostingOrder() throws Exception {
		Random random = new Random(SEED);
		List<Integer> open = new ArrayList<>();
		List<String> expected = new ArrayList<>();
		List<String> reported = new ArrayList<>();
		int posted = 0;
		for (int step = 0; step < 20_000; step++) {
			if (!this.queue.isFull() && random.nextBoolean()) {
				send(posted);
				expected.add("SEND " + posted + " SUCCESS");
				open.add(posted++ % DEPTH);
			}
			else if (!open.isEmpty()) {
				this.queue.complete(open.remove(random.nextInt(open.size())), WorkStatus.SUCCESS);
				reported.addAll(takeEnded());
				assertThat(reported).as("seed %s, step %s", SEED, step).isEqualTo(expected.subList(0, reported.size()));
			}
		}
		while (!open.isEmpty()) {
			this.queue.complete(open.remove(0), WorkStatus.SUCCESS);
		}
		reported.addAll(takeEnded());
		assertThat(reported).as("seed %s", SEED).isEqualTo(expected);
		assertThat(this.queue.atAdapter()).isZero();
	}

	@Test
	void aRequestKeepsItsRoomUntilThoseBeforeItHaveEnded() throws Exception {
		for (int i = 0; i < DEPTH; i++) {
			read(i);
		}
		WorkRequest next = new WorkRequest(0).send(DEPTH);
		for (int slot = 1; slot < DEPTH; slot++) {
			this.queue.complete(slot, WorkStatus.SUCCESS);
			assertThat(this.queue.hasRoomFor(next, this.segments)).isFalse();
			assertThat(this.queue.isFull()).isTrue();
		}
		this.queue.complete(0, WorkStatus.SUCCESS);
		assertThat(this.queue.hasRoomFor(next, this.segments)).isTrue();
		assertThat(takeEnded()).hasSize(DEPTH);
	}

	@Test
	void aReadInPartsEndsOnceAsItsFirstFailureSays() throws Exception {
		post(new WorkRequest(0).read(1, 0, 0), 3);
		assertThat(this.queue.complete(0, WorkStatus.REMOTE_ACCESS_ERROR)).isTrue();
		assertThat(this.queue.complete(0, WorkStatus.FLUSHED)).isFalse();
		assertThat(takeEnded()).containsExactly("READ 1 REMOTE_ACCESS_ERROR");
	}

	@Test
	void whatHasEndedBeforeAConnectionIsLostHasEndedWell() throws Exception {
		read(1);
		send(2);
		send(3);
		this.queue.complete(1, WorkStatus.SUCCESS);
		this.queue.close();
		this.queue.reportEnded();
		assertThat(takeEnded()).containsExactly("READ 1 FLUSHED", "SEND 2 SUCCESS", "SEND 3 FLUSHED");
		assertThat(this.queue.hasEnded()).isFalse();
	}

	@Test
	void whatAReadHadOpenedIsClosedBeforeAnybodyIsToldThatItHasEnded() throws Exception {
		for (WorkStatus status : List.of(WorkStatus.SUCCESS, WorkStatus.REMOTE_ACCESS_ERROR)) {
			readInto(1, true, true);
			this.queue.complete(this.posted++, status);
			assertThat(takeEnded()).containsExactly("closed", "closed", "READ 1 " + status);
		}
	}

	@Test
	void aReadWhoseSinkStaysOpenIsNotTrusted() throws Exception {
		readInto(1, true, false);
		this.queue.complete(0, WorkStatus.SUCCESS);
		assertThat(takeEnded()).containsExactly("not closed", "closed", "READ 1 LOCAL_OPERATION_ERROR");
	}

	@Test
	void noSinkSurvivesTheEndOfAConnection() throws Exception {
		readInto(1, true);
		this.queue.close();
		this.queue.reportEnded();
		assertThat(takeEnded()).containsExactly("closed", "READ 1 FLUSHED");
		open();
		readInto(2, true);
		this.queue.clear();
		assertThat(takeEnded()).containsExactly("closed");
	}

	@Test
	void whatCannotBeReportedForLackOfHeapIsReportedLater() {
		for (int id = 1; id <= 3; id++) {
			this.queue.enter(new WorkRequest(0).send(id), WorkStatus.FLUSHED);
		}
		this.failure = new OutOfMemoryError("made up");
		assertThatThrownBy(this.queue::reportEnded).isInstanceOf(OutOfMemoryError.class);
		this.queue.reportEnded();
		assertThat(takeEnded()).containsExactly("SEND 1 FLUSHED", "SEND 2 FLUSHED", "SEND 3 FLUSHED");
	}

	@Test
	void whatHasEndedWellDoesSoAlsoIfThatCannotBeReportedAtOnce() throws Exception {
		read(1);
		send(2);
		this.queue.complete(1, WorkStatus.SUCCESS);
		this.failure = new OutOfMemoryError("made up");
		assertThatThrownBy(() -> this.queue.complete(0, WorkStatus.SUCCESS)).isInstanceOf(OutOfMemoryError.class);
		assertThat(this.queue.atAdapter()).isEqualTo(2);
		this.queue.close();
		this.queue.reportEnded();
		assertThat(takeEnded()).containsExactly("READ 1 SUCCESS", "SEND 2 SUCCESS");
	}

	private void readInto(long id, boolean... closable) throws IOException {
		this.segments.clear();
		ReadSink sinks = null;
		for (boolean possible : closable) {
			this.segments.add(0, 1, 7);
			sinks = new ReadSink(7, (self) -> {
				this.ended.add(possible ? "closed" : "not closed");
				return possible;
			}).followedBy(sinks);
		}
		this.segments.sinks(sinks);
		this.queue.enter(new WorkRequest(0).read(id, 0, 0), this.segments);
		this.queue.post();
	}

	/** Takes everything. */
	private static final class Accepting extends SVCPostSend {

		@Override
		public SendWRMod getWrMod(int index) {
			throw new UnsupportedOperationException();
		}

		@Override
		public SVCPostSend execute() {
			return this;
		}

		@Override
		public boolean isValid() {
			return true;
		}

		@Override
		public SVCPostSend free() {
			return this;
		}

	}

}
