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

package dev.rdmarpc.rpc;

import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import dev.rdmarpc.flatbuffers.GatherBuilder;
import dev.rdmarpc.flatbuffers.GatherMessage;
import dev.rdmarpc.flatbuffers.TableField;
import dev.rdmarpc.flatbuffers.TableType;
import dev.rdmarpc.memory.RegisteredBuffer;
import dev.rdmarpc.memory.RegisteredMemory;

import static org.assertj.core.api.Assertions.assertThat;

/** References that a handler gives up for the time after the reply. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class RpcResultOwnershipTests {

	private static final int LENGTH = 5000;

	private final RpcFixture fixture = new RpcFixture();

	private final MakerService service = new MakerService(this.fixture.serverMemory);

	private final RpcServer server = this.fixture.startServer(Maker.class, this.service);

	private final RpcClient client = this.fixture.newClient(this.server);

	private final Maker maker = this.client.proxy(Maker.class);

	@AfterEach
	void nothingIsOutstanding() {
		this.client.close();
		this.server.close();
		this.fixture.close();
	}

	@Test
	void whatAHandlerAllocatesForItsResultComesBack() {
		for (int length : new int[] { 0, 10, LENGTH, 1 << 20 }) {
			RegisteredBuffer made = this.maker.make(length, (byte) 7);
			assertThat(made.length()).isEqualTo(length);
			for (int i = 0; i < length; i++) {
				assertThat(made.buffer().get(i)).isEqualTo((byte) 7);
			}
			made.release();
			RpcFixture.awaitTrue(() -> this.service.last.references() == 0);
		}
	}

	@Test
	void whatAHandlerPromisesComesBackToo() throws Exception {
		CompletableFuture<RegisteredBuffer> later = this.maker.later(LENGTH);
		RpcFixture.awaitTrue(() -> this.service.promised != null);
		assertThat(this.service.last.references()).isOne();
		this.service.promised.complete(this.service.last);
		later.get(20, TimeUnit.SECONDS).release();
		RpcFixture.awaitTrue(() -> this.service.last.references() == 0);
	}

	@Test
	void whatAHandlerGaveUpBeforeItFailedComesBack() {
		RpcException failure = RpcFixture.failureOf(() -> this.maker.fail(LENGTH));
		assertThat(failure.status()).isEqualTo(RpcStatus.NOT_FOUND);
		RpcFixture.awaitTrue(() -> this.service.last.references() == 0);
	}

	@Test
	void whatAHandlerGivesUpAfterItsCallWasCancelledComesBackAtOnce() {
		for (int i = 0; i < 20; i++) {
			this.service.promised = null;
			CompletableFuture<RegisteredBuffer> call = this.maker.later(LENGTH);
			RpcFixture.awaitTrue(() -> this.service.promised != null);
			RpcContext context = this.service.context;
			CompletableFuture<RegisteredBuffer> promised = this.service.promised;
			call.cancel(true);
			RpcFixture.awaitTrue(promised::isCancelled);
			RpcFixture.awaitTrue(() -> this.service.last.references() == 0);
			assertThat(context.isCancelled()).isTrue();
			this.maker.make(1, (byte) 1).release();
			RegisteredBuffer late = this.fixture.serverMemory.allocate(LENGTH);
			context.releaseAfterReply(late);
			assertThat(late.references()).isZero();
		}
	}

	@Test
	void messagesComeBack() {
		GatherMessage note = this.maker.note("a note");
		assertThat(note.totalBytes()).isPositive();
		note.release();
		RpcFixture.awaitTrue(() -> this.service.lastNote.references() == 0);
	}

	@Test
	void whatIsStoredStaysWithItsStore() {
		this.service.last = this.fixture.serverMemory.allocate(LENGTH);
		for (int i = 0; i < 100; i++) {
			this.maker.again().release();
		}
		RpcFixture.awaitTrue(() -> this.service.last.references() == 1);
		assertThat(this.service.last.release()).isTrue();
	}

	@Test
	void aReferenceGivenUpTwiceHarmsNobody() {
		assertThat(this.maker.twice(LENGTH)).isEqualTo(LENGTH);
		assertThat(this.maker.twice(LENGTH)).isEqualTo(LENGTH);
	}

	/** The service of these tests. */
	public interface Maker {

		RegisteredBuffer make(int length, byte value);

		CompletableFuture<RegisteredBuffer> later(int length);

		RegisteredBuffer fail(int length);

		GatherMessage note(String text);

		RegisteredBuffer again();

		int twice(int length);

	}

	private static final class MakerService implements Maker {

		private final RegisteredMemory memory;

		private volatile RegisteredBuffer last;

		private volatile GatherMessage lastNote;

		private volatile CompletableFuture<RegisteredBuffer> promised;

		private volatile RpcContext context;

		MakerService(RegisteredMemory memory) {
			this.memory = memory;
		}

		private static RpcContext context() {
			return Objects.requireNonNull(RpcContext.current());
		}

		@Override
		public RegisteredBuffer make(int length, byte value) {
			RegisteredBuffer made = this.memory.allocate(length);
			for (int i = 0; i < length; i++) {
				made.buffer().put(i, value);
			}
			this.last = made;
			context().releaseAfterReply(made);
			return made;
		}

		@Override
		public CompletableFuture<RegisteredBuffer> later(int length) {
			this.last = this.memory.allocate(length);
			this.context = context();
			this.context.releaseAfterReply(this.last);
			CompletableFuture<RegisteredBuffer> result = new CompletableFuture<>();
			this.promised = result;
			return result;
		}

		@Override
		public RegisteredBuffer fail(int length) {
			this.last = this.memory.allocate(length);
			context().releaseAfterReply(this.last);
			throw new RpcException(RpcStatus.NOT_FOUND, "as asked");
		}

		@Override
		public GatherMessage note(String text) {
			try (GatherBuilder builder = new GatherBuilder(this.memory)) {
				this.lastNote = builder.begin(Note.TYPE).put(Note.TEXT, text).finish();
			}
			context().releaseAfterReply(this.lastNote);
			return this.lastNote;
		}

		@Override
		public RegisteredBuffer again() {
			context().releaseAfterReply(this.last.retain());
			return this.last;
		}

		@Override
		public int twice(int length) {
			RegisteredBuffer made = this.memory.allocate(length);
			context().releaseAfterReply(made);
			context().releaseAfterReply(made);
			return length;
		}

	}

	private static final class Note {

		static final TableType TYPE = TableType.named("Note");

		static final TableField.OfString TEXT = TYPE.addString("text");

	}

}
