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

package dev.rdmarpc.rpc.peer;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.function.UnaryOperator;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import dev.rdmarpc.TestEnvironment;
import dev.rdmarpc.flatbuffers.GatherBuilder;
import dev.rdmarpc.flatbuffers.GatherMessage;
import dev.rdmarpc.flatbuffers.TableField;
import dev.rdmarpc.flatbuffers.TableType;
import dev.rdmarpc.memory.RegisteredBuffer;
import dev.rdmarpc.rpc.CallOptions;
import dev.rdmarpc.rpc.ConnectionState;
import dev.rdmarpc.rpc.QueuePairHealth;
import dev.rdmarpc.rpc.QueuePairPoolOptions;
import dev.rdmarpc.rpc.RpcClient;
import dev.rdmarpc.rpc.RpcException;
import dev.rdmarpc.rpc.RpcStatus;
import dev.rdmarpc.transport.ChannelOptions;
import dev.rdmarpc.transport.TransportOptions;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What calls do, seen from the client only, so that the server may be anywhere and over
 * any provider. Each fixture checks when closed that nothing is outstanding here; the
 * server checks it when it ends.
 */
abstract class AbstractPeerTests {

	private static final int LARGE = 3 << 20;

	abstract String host();

	abstract int port();

	private PeerFixture fixture() {
		return new PeerFixture(host(), port());
	}

	private PeerFixture fixture(TransportOptions transport, ChannelOptions channel) {
		return new PeerFixture(host(), port(), transport, (options) -> options.withChannel(channel));
	}

	private PeerFixture fixture(QueuePairPoolOptions queuePairs) {
		return new PeerFixture(host(), port(), PeerSettings.transport(),
				(options) -> options.withQueuePairs(queuePairs));
	}

	private static byte[] random(Random random, int size) {
		byte[] bytes = new byte[size];
		random.nextBytes(bytes);
		return bytes;
	}

	@Test
	void callsReturnTheirResults() throws Exception {
		try (PeerFixture fixture = fixture()) {
			for (int i = 0; i < TestEnvironment.rounds(500, 100); i++) {
				assertThat(fixture.service.echo("call " + i)).isEqualTo("call " + i);
				assertThat(fixture.service.echoOnExecutor("task " + i)).isEqualTo("task " + i);
			}
			assertThat(PeerFixture.get(fixture.service.echoAsync("later"))).isEqualTo("later");
		}
	}

	@ParameterizedTest
	@ValueSource(longs = { 1, 2, 3, 4, 5, 6, 7, 8 })
	void everyTypeArrivesAsItWas(long seed) {
		Random random = new Random(seed);
		try (PeerFixture fixture = fixture()) {
			for (int i = 0; i < TestEnvironment.rounds(5, 1); i++) {
				AllTypes value = AllTypes.random(random, (int) ((seed + i) % 3));
				assertThat(fixture.service.all(value).comparable()).as("seed %d, value %d", seed, i)
					.isEqualTo(value.comparable());
			}
		}
	}

	@ParameterizedTest
	@CsvSource({ "16, 32768", "1, 32768", "16, 0", "3, 1000000" })
	void messagesOfAllSizesArriveAsTheyWere(int readDepth, int eagerBytes) {
		TransportOptions defaults = PeerSettings.transport();
		TransportOptions transport = new TransportOptions(defaults.provider(), defaults.device(), defaults.polling(),
				1 << 12, 64, readDepth);
		Random random = new Random(readDepth);
		try (PeerFixture fixture = fixture(transport, PeerSettings.channel().withEagerLimit(eagerBytes))) {
			for (int size : new int[] { 0, 1, 100, 8000, 8192, 32_768, 32_769, 65_536, 262_145, 1_000_001, LARGE }) {
				byte[] sent = random(random, size);
				assertThat(fixture.service.bytes(sent)).as("%d bytes", size).isEqualTo(sent);
			}
		}
	}

	@Test
	void largeMessagesAreReadInBothDirections() {
		try (PeerFixture fixture = fixture()) {
			long there = fixture.service.state().readBytes();
			byte[] sent = random(new Random(1), LARGE);
			assertThat(fixture.service.sum(sent)).isEqualTo(ServedPeer.sumOf(sent));
			assertThat(fixture.service.state().readBytes() - there).isGreaterThanOrEqualTo(LARGE);
			assertThat(fixture.readBytes()).isZero();
			assertThat(fixture.service.count(LARGE)).isEqualTo(ServedPeer.counted(LARGE));
			assertThat(fixture.readBytes()).isGreaterThanOrEqualTo(LARGE);
		}
	}

	@Test
	void manyCallsAreOutstandingAtOnce() throws Exception {
		try (PeerFixture fixture = fixture()) {
			List<CompletableFuture<String>> futures = new ArrayList<>();
			int calls = TestEnvironment.rounds(1000, 300);
			for (int i = 0; i < calls; i++) {
				futures.add(fixture.service.echoAsync("call " + i));
			}
			for (int i = 0; i < futures.size(); i++) {
				assertThat(PeerFixture.get(futures.get(i))).isEqualTo("call " + i);
			}
		}
	}

	@Test
	void largeAndSmallCallsOfManyThreadsDoNotMixUp() throws Exception {
		try (PeerFixture fixture = fixture()) {
			List<CompletableFuture<Void>> threads = new ArrayList<>();
			for (int i = 0; i < 6; i++) {
				Random own = new Random(i);
				threads.add(CompletableFuture.runAsync(() -> {
					for (int call = 0; call < TestEnvironment.rounds(25, 8); call++) {
						byte[] sent = random(own, (own.nextInt(3) == 0) ? own.nextInt(1 << 20) : own.nextInt(2000));
						assertThat(fixture.service.bytes(sent)).isEqualTo(sent);
						assertThat(fixture.service.echo("call " + call)).isEqualTo("call " + call);
					}
				}, (task) -> new Thread(task, "caller").start()));
			}
			PeerFixture.get(CompletableFuture.allOf(threads.toArray(CompletableFuture[]::new)));
		}
	}

	@Test
	void clientsComeAndGo() {
		try (PeerFixture fixture = fixture()) {
			for (int i = 0; i < 5; i++) {
				try (RpcClient other = fixture.newClient(UnaryOperator.identity())) {
					PeerService service = PeerFixture.patient(other.proxy(PeerService.class));
					assertThat(service.echo("client " + i)).isEqualTo("client " + i);
				}
			}
			assertThat(fixture.service.echo("the first")).isEqualTo("the first");
			PeerFixture.awaitTrue(() -> fixture.service.state().connections() == 1);
		}
	}

	@Test
	void deadlinesEndCallsAndInterruptTheirHandlers() {
		try (PeerFixture fixture = fixture()) {
			int before = fixture.service.state().interrupted();
			PeerService hasty = CallOptions.deadline(TestEnvironment.scaled(Duration.ofSeconds(2))).on(fixture.service);
			assertThat(PeerFixture.failureOf(() -> hasty.slow(600_000)).status())
				.isEqualTo(RpcStatus.DEADLINE_EXCEEDED);
			assertThat(PeerFixture.failureOf(hasty.never()).status()).isEqualTo(RpcStatus.DEADLINE_EXCEEDED);
			PeerFixture.awaitTrue(() -> fixture.service.state().interrupted() == before + 1);
			assertThat(fixture.service.slow(50)).isEqualTo("slept");
		}
	}

	@Test
	void cancellingAFutureCancelsTheWorkAtThePeer() {
		try (PeerFixture fixture = fixture()) {
			CompletableFuture<Void> never = fixture.service.never();
			PeerFixture.awaitTrue(() -> fixture.service.state().activeCalls() == 2);
			assertThat(never.cancel(true)).isTrue();
			PeerFixture.awaitTrue(() -> fixture.service.state().activeCalls() == 1);
		}
	}

	@Test
	void interruptingACallerCancelsItsCall() throws Exception {
		try (PeerFixture fixture = fixture()) {
			int before = fixture.service.state().interrupted();
			CompletableFuture<RpcStatus> status = new CompletableFuture<>();
			Thread caller = new Thread(
					() -> status.complete(PeerFixture.failureOf(() -> fixture.service.slow(600_000)).status()));
			caller.start();
			PeerFixture.awaitTrue(() -> fixture.service.state().running() == 1);
			caller.interrupt();
			assertThat(PeerFixture.get(status)).isEqualTo(RpcStatus.CANCELLED);
			PeerFixture.awaitTrue(() -> fixture.service.state().interrupted() == before + 1);
		}
	}

	@Test
	void largeCallsGivenUpInTheMiddleLeaveTheConnectionAlone() {
		Random random = new Random(7);
		try (PeerFixture fixture = fixture()) {
			CompletableFuture<Void> sentinel = fixture.service.never();
			for (int i = 0; i < TestEnvironment.rounds(30, 10); i++) {
				CompletableFuture<byte[]> call = fixture.service.bytesLater(new byte[LARGE]);
				long until = System.nanoTime()
						+ random.nextInt((int) TestEnvironment.scaled(Duration.ofMillis(20)).toNanos());
				while (System.nanoTime() < until) {
					Thread.onSpinWait();
				}
				call.cancel(true);
			}
			byte[] sent = random(random, LARGE);
			assertThat(fixture.service.bytes(sent)).isEqualTo(sent);
			assertThat(sentinel).as("the one connection is still there").isNotDone();
			sentinel.cancel(true);
		}
	}

	@ParameterizedTest
	@EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "OK")
	void everyStatusArrivesWithItsText(RpcStatus status) {
		try (PeerFixture fixture = fixture()) {
			RpcException failure = PeerFixture.failureOf(() -> fixture.service.fail(status, "as asked \u20ac"));
			assertThat(failure.status()).isEqualTo(status);
			assertThat(failure).hasMessageContaining("as asked \u20ac");
		}
	}

	@Test
	void whatGoesWrongHasItsOwnStatus() {
		try (PeerFixture fixture = fixture()) {
			assertThat(PeerFixture.failureOf(() -> fixture.service.fail(null, "boom"))).satisfies((failure) -> {
				assertThat(failure.status()).isEqualTo(RpcStatus.UNKNOWN);
				assertThat(failure).hasMessageContaining("the handler failed");
			});
			PeerService elsewhere = PeerFixture.patient(fixture.client.proxy("elsewhere", PeerService.class));
			assertThat(PeerFixture.failureOf(elsewhere::state).status()).isEqualTo(RpcStatus.UNIMPLEMENTED);
			Newer newer = fixture.client.proxy(PeerService.class.getName(), Newer.class);
			assertThat(PeerFixture.failureOf(newer::unheardOf).status()).isEqualTo(RpcStatus.UNIMPLEMENTED);
			assertThat(PeerFixture.failureOf(() -> newer.echo(0x7fff_ffff)).status())
				.isEqualTo(RpcStatus.FAILED_PRECONDITION);
			int most = ChannelOptions.DEFAULTS.maxMessageBytes();
			assertThat(PeerFixture.failureOf(() -> fixture.service.sum(new byte[most + 1])).status())
				.isEqualTo(RpcStatus.RESOURCE_EXHAUSTED);
			assertThat(PeerFixture.failureOf(() -> fixture.service.count(most + 1)).status())
				.isEqualTo(RpcStatus.RESOURCE_EXHAUSTED);
			assertThat(fixture.service.echo("still there")).isEqualTo("still there");
		}
	}

	@Test
	void callsSpreadOverSeveralQueuePairs() {
		try (PeerFixture fixture = fixture(QueuePairPoolOptions.fixed(3))) {
			fixture.client.connect();
			PeerFixture.awaitTrue(() -> ready(fixture) == 3);
			List<CompletableFuture<Void>> calls = new ArrayList<>();
			for (int i = 0; i < 9; i++) {
				calls.add(fixture.service.never());
				int started = i + 1;
				PeerFixture.awaitTrue(() -> outstanding(fixture) == started);
			}
			assertThat(fixture.client.queuePairs()).extracting(QueuePairHealth::outstandingCalls)
				.containsExactly(3, 3, 3);
			PeerFixture.awaitTrue(() -> fixture.service.state().connections() == 3);
			calls.forEach((call) -> call.cancel(true));
		}
	}

	@Test
	void queuePairsGrowUnderLoadAndShrinkWhenIdle() {
		try (PeerFixture fixture = fixture(new QueuePairPoolOptions(1, 3, 2, Duration.ofMillis(200)))) {
			List<CompletableFuture<Void>> calls = new ArrayList<>();
			PeerFixture.awaitTrue(() -> {
				calls.add(fixture.service.never());
				return ready(fixture) == 3;
			});
			calls.forEach((call) -> call.cancel(true));
			PeerFixture.awaitTrue(() -> fixture.client.queuePairs().size() == 1);
			PeerFixture.awaitTrue(() -> fixture.service.state().connections() == 1);
		}
	}

	private static long ready(PeerFixture fixture) {
		return fixture.client.queuePairs().stream().filter((pair) -> pair.state() == ConnectionState.READY).count();
	}

	private static int outstanding(PeerFixture fixture) {
		return fixture.client.queuePairs().stream().mapToInt(QueuePairHealth::outstandingCalls).sum();
	}

	@Test
	void losingTheConnectionReleasesEverybodyAndIsMadeGood() throws Exception {
		try (PeerFixture fixture = fixture()) {
			int before = fixture.service.state().interrupted();
			List<CompletableFuture<?>> calls = new ArrayList<>();
			for (int i = 0; i < 4; i++) {
				calls.add(fixture.service.never());
				calls.add(CompletableFuture.runAsync(() -> fixture.service.slow(600_000),
						(task) -> new Thread(task, "caller").start()));
			}
			calls.add(fixture.service.bytesLater(new byte[LARGE]).thenCompose((bytes) -> fixture.service.never()));
			PeerFixture.awaitTrue(() -> fixture.service.state().running() == 4);
			int keys = fixture.service.state().keys();
			CompletableFuture<String> repeated = fixture.service.secondTime("lost " + System.nanoTime());
			PeerFixture.awaitTrue(() -> fixture.service.state().keys() == keys + 1);
			calls.add(fixture.service.loseConnections());
			for (CompletableFuture<?> call : calls) {
				RpcException failure = PeerFixture.failureOf(call);
				assertThat(failure.status()).as("%s", failure).isEqualTo(RpcStatus.UNAVAILABLE);
			}
			assertThat(PeerFixture.get(repeated)).startsWith("lost");
			PeerFixture.awaitTrue(() -> fixture.service.state().interrupted() == before + 4);
			assertThat(fixture.service.echo("again")).isEqualTo("again");
		}
	}

	@Test
	void theServerGoesAwayAndComesBack() {
		try (PeerFixture fixture = fixture()) {
			for (int i = 0; i < 2; i++) {
				CompletableFuture<Void> never = fixture.service.never();
				assertThat(PeerFixture.failureOf(fixture.service.restart()).status()).isEqualTo(RpcStatus.UNAVAILABLE);
				assertThat(PeerFixture.failureOf(never).status()).isEqualTo(RpcStatus.UNAVAILABLE);
				PeerFixture.awaitTrue(() -> {
					try {
						return fixture.service.echo("back").equals("back");
					}
					catch (RpcException ex) {
						assertThat(ex.status()).as("%s", ex).isEqualTo(RpcStatus.UNAVAILABLE);
						return false;
					}
				});
			}
			byte[] sent = random(new Random(3), LARGE);
			assertThat(fixture.service.bytes(sent)).isEqualTo(sent);
		}
	}

	@ParameterizedTest
	@ValueSource(ints = { 0, 1, 600, 100_000, LARGE })
	void registeredBuffersGoThereAndComeBack(int length) {
		try (PeerFixture fixture = fixture()) {
			RegisteredBuffer data = fixture.memory.allocate(length);
			data.buffer().put(0, ServedPeer.counted(length));
			RegisteredBuffer back = fixture.service.buffer(data);
			assertThat(back.buffer()).isEqualTo(data.buffer());
			assertThat(back.release()).isTrue();
			ByteBuffer plain = ByteBuffer.wrap(random(new Random(length), 700));
			PeerService.Blob blob = fixture.service.blob(new PeerService.Blob("name", data, plain.duplicate()));
			assertThat(blob.name()).isEqualTo("name!");
			assertThat(blob.data().buffer()).isEqualTo(data.buffer());
			assertThat(blob.plain()).isEqualTo(plain);
			assertThat(blob.data().release()).isTrue();
			assertThat(data.release()).isTrue();
		}
	}

	@Test
	void gatherMessagesGoThereAndComeBack() {
		try (PeerFixture fixture = fixture(); GatherBuilder builder = new GatherBuilder(fixture.memory)) {
			RegisteredBuffer data = fixture.memory.allocate(100_000);
			data.buffer().put(0, ServedPeer.counted(100_000));
			GatherMessage message = builder.begin(Note.TYPE).put(Note.NUMBER, 7).put(Note.DATA, data).finish();
			data.release();
			GatherMessage back = fixture.service.message(message);
			assertThat(back.buffer()).isEqualTo(contiguous(message));
			back.release();
			message.release();
			assertThat(fixture.service.message(null)).isNull();
		}
	}

	private static ByteBuffer contiguous(GatherMessage message) {
		ByteBuffer bytes = ByteBuffer.allocate(message.totalBytes());
		message.copyTo(bytes);
		return bytes.flip();
	}

	/** What a newer client may believe the service to be. */
	interface Newer {

		void unheardOf();

		String echo(int number);

	}

	private static final class Note {

		static final TableType TYPE = TableType.named("Note");

		static final TableField.OfInt NUMBER = TYPE.addInt("number");

		static final TableField.OfBytes DATA = TYPE.addBytes("data");

	}

}
