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

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import dev.rdmarpc.TestEnvironment;
import dev.rdmarpc.codec.MessageSegments;
import dev.rdmarpc.flatbuffers.GatherBuilder;
import dev.rdmarpc.flatbuffers.GatherMessage;
import dev.rdmarpc.flatbuffers.TableField;
import dev.rdmarpc.flatbuffers.TableType;
import dev.rdmarpc.memory.RegisteredBuffer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** Arguments and results that are views of the received memory, and who holds them. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class RpcViewTests {

	private final RpcFixture fixture = new RpcFixture();

	private final StoreService service = new StoreService();

	private final RpcServer server = this.fixture.startServer(Store.class, this.service);

	private final RpcClient client = this.fixture.newClient(this.server);

	private final Store store = this.client.proxy(Store.class);

	@AfterEach
	void nothingIsOutstanding() {
		this.client.close();
		this.server.close();
		this.fixture.close();
	}

	@ParameterizedTest
	@ValueSource(ints = { 0, 1, 600, 100_000 })
	void buffersGoThereAndComeBack(int length) {
		RegisteredBuffer data = data(length);
		RegisteredBuffer back = this.store.echo(data);
		assertThat(back.buffer()).isEqualTo(data.buffer());
		assertThat(data.references()).isOne();
		assertThat(back.references()).isOne();
		data.release();
		back.release();
		RpcFixture.awaitTrue(() -> this.service.seen.get(0).references() == 0);
	}

	@Test
	void whatAHandlerRetainsOutlivesTheCall() {
		RegisteredBuffer data = data(700);
		this.store.keep(data);
		for (int i = 0; i < TestEnvironment.rounds(2000, 200); i++) {
			assertThat(this.store.size(new Blob("b", data, ByteBuffer.allocate(10)))).isEqualTo(710);
		}
		RegisteredBuffer kept = this.service.kept.get(0);
		assertThat(kept.buffer()).isEqualTo(data.buffer());
		assertThat(kept.release()).isTrue();
		data.release();
	}

	@Test
	void recordsHaveCountedPartsAndCopies() {
		RegisteredBuffer data = data(900);
		ByteBuffer plain = ByteBuffer.allocate(600).put(5, (byte) 5);
		Blob back = this.store.reverse(new Blob("name", data, plain.duplicate()));
		data.release();
		for (int i = 0; i < TestEnvironment.rounds(1000, 100); i++) {
			this.store.size(new Blob("other", null, ByteBuffer.allocate(1000)));
		}
		assertThat(back.name()).isEqualTo("eman");
		assertThat(back.data().buffer().get(899)).isEqualTo((byte) 899);
		assertThat(back.plain()).isEqualTo(plain.rewind());
		back.data().release();
	}

	@Test
	void messagesGoThereAndAreForwarded() {
		try (GatherBuilder builder = new GatherBuilder(this.fixture.clientMemory)) {
			RegisteredBuffer data = data(1000);
			GatherMessage message = builder.begin(Note.TYPE).put(Note.NUMBER, 7).put(Note.DATA, data).finish();
			data.release();
			assertThat(this.store.sum(List.of(), message)).isEqualTo(message.totalBytes());
			GatherMessage back = this.store.forward(message);
			assertThat(back.buffer()).isEqualTo(contiguous(message));
			assertThat(back.type()).isNull();
			GatherMessage outer = builder.begin(Note.TYPE).put(Note.INNER, back).finish();
			assertThat(back.release()).isFalse();
			assertThat(this.store.sum(List.of(outer, message), outer))
				.isEqualTo(2 * outer.totalBytes() + message.totalBytes());
			assertThat(this.store.forward(null)).isNull();
			outer.release();
			message.release();
		}
	}

	@Test
	void futuresDeliverPartsOrGiveThemBack() throws Exception {
		RegisteredBuffer data = data(2000);
		RegisteredBuffer back = this.store.later(data).get(20, TimeUnit.SECONDS);
		assertThat(back.buffer()).isEqualTo(data.buffer());
		back.release();
		this.service.gate = new CountDownLatch(1);
		CompletableFuture<RegisteredBuffer> dropped = this.store.later(data);
		assertThat(dropped.complete(null)).isTrue();
		this.service.gate.countDown();
		assertThat(this.store.echo(data).release()).isTrue();
		data.release();
	}

	@Test
	void aHandlerThatFailsHoldsNothing() {
		RegisteredBuffer data = data(800);
		assertThatExceptionOfType(RpcException.class).isThrownBy(() -> this.store.fail(data));
		assertThat(data.release()).isTrue();
		RpcFixture.awaitTrue(() -> this.service.seen.get(0).references() == 0);
	}

	@Test
	void aHandlerThatReleasesWhatItWasLentHarmsNobody() {
		RegisteredBuffer data = data(800);
		this.store.releaseTooMuch(data);
		assertThat(this.store.echo(data).release()).isTrue();
		data.release();
	}

	@Test
	void whatWasReleasedIsRefusedBeforeAnythingIsSent() {
		try (GatherBuilder builder = new GatherBuilder(this.fixture.clientMemory)) {
			GatherMessage good = builder.begin(Note.TYPE).finish();
			GatherMessage released = builder.begin(Note.TYPE).finish();
			released.release();
			assertThatExceptionOfType(RpcException.class)
				.isThrownBy(() -> this.store.sum(List.of(good, released), good))
				.satisfies((ex) -> assertThat(ex.status()).isEqualTo(RpcStatus.INVALID_ARGUMENT));
			assertThat(good.release()).isTrue();
		}
	}

	private RegisteredBuffer data(int length) {
		RegisteredBuffer data = this.fixture.clientMemory.allocate(length);
		for (int i = 0; i < length; i++) {
			data.buffer().put(i, (byte) i);
		}
		return data;
	}

	private static ByteBuffer contiguous(GatherMessage message) {
		ByteBuffer bytes = ByteBuffer.allocate(message.totalBytes());
		message.copyTo(bytes);
		return bytes.flip();
	}

	/** The service of these tests. */
	public interface Store {

		RegisteredBuffer echo(RegisteredBuffer data);

		void keep(RegisteredBuffer data);

		@RdmaMethod(inline = true)
		int size(Blob blob);

		Blob reverse(Blob blob);

		int sum(List<GatherMessage> messages, GatherMessage last);

		GatherMessage forward(GatherMessage message);

		CompletableFuture<RegisteredBuffer> later(RegisteredBuffer data);

		void fail(RegisteredBuffer data);

		void releaseTooMuch(RegisteredBuffer data);

	}

	/** A record with parts of the received memory. */
	public record Blob(String name, RegisteredBuffer data, ByteBuffer plain) {

	}

	private static final class StoreService implements Store {

		private final List<RegisteredBuffer> seen = new CopyOnWriteArrayList<>();

		private final List<RegisteredBuffer> kept = new ArrayList<>();

		private volatile CountDownLatch gate = new CountDownLatch(0);

		@Override
		public RegisteredBuffer echo(RegisteredBuffer data) {
			this.seen.add(data);
			return data;
		}

		@Override
		public void keep(RegisteredBuffer data) {
			this.kept.add(data.retain());
		}

		@Override
		public int size(Blob blob) {
			return ((blob.data() != null) ? blob.data().length() : 0) + blob.plain().remaining();
		}

		@Override
		public Blob reverse(Blob blob) {
			return new Blob(new StringBuilder(blob.name()).reverse().toString(), blob.data(), blob.plain());
		}

		@Override
		public int sum(List<GatherMessage> messages, GatherMessage last) {
			MessageSegments all = new MessageSegments();
			messages.forEach((message) -> message.addTo(all));
			last.addTo(all);
			int bytes = all.totalBytes();
			all.clear();
			return bytes;
		}

		@Override
		public GatherMessage forward(GatherMessage message) {
			return message;
		}

		@Override
		public CompletableFuture<RegisteredBuffer> later(RegisteredBuffer data) {
			try {
				assertThat(this.gate.await(20, TimeUnit.SECONDS)).isTrue();
			}
			catch (InterruptedException ex) {
				throw new IllegalStateException(ex);
			}
			return CompletableFuture.completedFuture(data);
		}

		@Override
		public void fail(RegisteredBuffer data) {
			this.seen.add(data);
			throw new IllegalStateException("as asked");
		}

		@Override
		public void releaseTooMuch(RegisteredBuffer data) {
			data.release();
		}

	}

	private static final class Note {

		static final TableType TYPE = TableType.named("Note");

		static final TableField.OfInt NUMBER = TYPE.addInt("number");

		static final TableField.OfBytes DATA = TYPE.addBytes("data");

		static final TableField.OfMessage INNER = TYPE.addMessage("inner");

	}

}
