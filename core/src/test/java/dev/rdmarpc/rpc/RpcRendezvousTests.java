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

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import dev.rdmarpc.TestEnvironment;
import dev.rdmarpc.memory.MemoryOptions;
import dev.rdmarpc.memory.RegisteredBuffer;
import dev.rdmarpc.transport.ChannelLoop;
import dev.rdmarpc.transport.ChannelOptions;
import dev.rdmarpc.transport.TransportOptions;
import dev.rdmarpc.verbs.iwarp.TcpProxy;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Messages above the eager limit, which the receiver Reads by itself. Each fixture checks
 * when closed that nothing is outstanding.
 */
@Tag("slow")
class RpcRendezvousTests {

	private static final int LARGE = 3 << 20;

	private final Random random = new Random(7);

	@ParameterizedTest
	@CsvSource({ "16, 32768", "1, 32768", "16, 0", "3, 500000" })
	void messagesOfAllSizesArriveAsTheyWere(int readDepth, int eagerBytes) {
		TransportOptions transport = new TransportOptions(TransportOptions.AUTO, "",
				TransportOptions.DEFAULTS.polling(), 1 << 12, 64, readDepth);
		try (RpcFixture fixture = new RpcFixture((options) -> options.withChannel(eager(options.channel(), eagerBytes)),
				(options) -> options.withChannel(eager(options.channel(), eagerBytes)), transport, transport)) {
			for (int size : new int[] { 0, 1, 100, 8000, 32_768, 32_769, 65_536, 262_144, 262_145, 1_000_001, LARGE }) {
				byte[] sent = bytes(size);
				assertThat(fixture.echo.bytes(sent)).as("%d bytes", size).isEqualTo(sent);
			}
			long read = fixture.serverTransport.loops().stream().mapToLong((loop) -> loop.metrics().readBytes()).sum();
			assertThat(read).isGreaterThan(LARGE);
		}
	}

	/** With the memory of {@link MemoryOptions#DEFAULTS}. */
	@Test
	void sixtyFourMebibytesNeedNothingButTheLimitsRaised() {
		int limit = 65 << 20;
		try (RpcFixture fixture = new RpcFixture(
				(options) -> options.withChannel(options.channel().withLimits(limit, 4096)),
				(options) -> options.withChannel(options.channel().withLimits(limit, 4096)),
				MemoryOptions.DEFAULTS.maxBytes())) {
			byte[] sent = new byte[64 << 20];
			for (int at = 0; at < sent.length; at += 4096) {
				sent[at] = (byte) this.random.nextInt();
			}
			assertThat(fixture.echo.bytes(sent)).isEqualTo(sent);
			RpcException failure = RpcFixture.failureOf(() -> fixture.echo.bytes(new byte[limit]));
			assertThat(failure.status()).isEqualTo(RpcStatus.RESOURCE_EXHAUSTED);
		}
	}

	@Test
	void sidesMayHaveDifferentLimits() {
		try (RpcFixture fixture = new RpcFixture((options) -> options.withChannel(eager(options.channel(), 1 << 24)),
				(options) -> options.withChannel(eager(options.channel(), 0)))) {
			byte[] sent = bytes(LARGE);
			assertThat(fixture.echo.bytes(sent)).isEqualTo(sent);
			assertThat(fixture.echo.add(1, 2)).isEqualTo(3);
			assertThat(readBytes(fixture.clientTransport.loops())).isZero();
			assertThat(readBytes(fixture.serverTransport.loops())).isGreaterThan(LARGE);
		}
	}

	@Test
	void longerMessagesThanTheLimitTravelInFramesOneAfterTheOther() {
		try (RpcFixture fixture = new RpcFixture()) {
			for (int call = 0; call < 20; call++) {
				byte[] sent = bytes(150_000);
				assertThat(fixture.echo.bytes(sent)).isEqualTo(sent);
			}
			assertThat(readBytes(fixture.clientTransport.loops())).isZero();
			assertThat(readBytes(fixture.serverTransport.loops())).isZero();
			byte[] sent = bytes(170_000);
			assertThat(fixture.echo.bytes(sent)).isEqualTo(sent);
			assertThat(readBytes(fixture.clientTransport.loops())).isGreaterThanOrEqualTo(sent.length);
			assertThat(readBytes(fixture.serverTransport.loops())).isGreaterThanOrEqualTo(sent.length);
		}
	}

	@Test
	void largeAndSmallCallsOfManyThreadsDoNotMixUp() throws Exception {
		try (RpcFixture fixture = new RpcFixture()) {
			List<CompletableFuture<Void>> threads = new ArrayList<>();
			for (int i = 0; i < 6; i++) {
				Random own = new Random(i);
				threads.add(CompletableFuture.runAsync(() -> {
					for (int call = 0; call < TestEnvironment.rounds(40, 12); call++) {
						byte[] sent = new byte[(own.nextInt(3) == 0) ? own.nextInt(1 << 20) : own.nextInt(2000)];
						own.nextBytes(sent);
						assertThat(fixture.echo.bytes(sent)).isEqualTo(sent);
					}
				}, (task) -> new Thread(task, "caller").start()));
			}
			CompletableFuture.allOf(threads.toArray(CompletableFuture[]::new)).get(60, TimeUnit.SECONDS);
		}
	}

	@Test
	void requestThatFindsNoMemoryInTimeFailsAlone() {
		try (RpcFixture fixture = new RpcFixture(UnaryOperator.identity(), UnaryOperator.identity(), 8L << 20)) {
			RpcException failure = RpcFixture.failureOf(() -> fixture.echo.bytes(new byte[12 << 20]));
			assertThat(failure.status()).isEqualTo(RpcStatus.RESOURCE_EXHAUSTED);
			assertThat(failure).hasMessageContaining("memory");
			byte[] sent = bytes(100_000);
			assertThat(fixture.echo.bytes(sent)).isEqualTo(sent);
		}
	}

	@Test
	void requestWaitsForMemoryThatOthersGiveBack() throws Exception {
		try (RpcFixture fixture = new RpcFixture(UnaryOperator.identity(), UnaryOperator.identity(), 24L << 20)) {
			BytesClient bytes = fixture.client.proxy(Echo.class.getName(), BytesClient.class);
			List<CompletableFuture<byte[]>> calls = new ArrayList<>();
			for (int i = 0; i < 12; i++) {
				calls.add(bytes.bytes(new byte[2 << 20]));
			}
			int succeeded = 0;
			for (CompletableFuture<byte[]> call : calls) {
				try {
					assertThat(call.get(20, TimeUnit.SECONDS)).hasSize(2 << 20);
					succeeded++;
				}
				catch (ExecutionException ex) {
					assertThat(((RpcException) ex.getCause()).status()).isEqualTo(RpcStatus.RESOURCE_EXHAUSTED);
				}
			}
			assertThat(succeeded).isPositive();
			assertThat(bytes.bytes(new byte[2 << 20]).get(20, TimeUnit.SECONDS)).hasSize(2 << 20);
		}
	}

	/**
	 * Those who wait for their calls wait for memory as well, and leave some to replies.
	 */
	@Test
	void blockingCallsThatNeedManyTimesTheMemoryTakeTurns() throws Exception {
		try (RpcFixture fixture = new RpcFixture(UnaryOperator.identity(),
				(options) -> options.withDefaultDeadline(Duration.ofMinutes(5)))) {
			List<CompletableFuture<byte[]>> callers = new ArrayList<>();
			for (int i = 0; i < 24; i++) {
				callers.add(RpcFixture.inThread(() -> fixture.echo.bytes(new byte[4 << 20])));
			}
			for (CompletableFuture<byte[]> caller : callers) {
				assertThat(caller.get(120, TimeUnit.SECONDS)).hasSize(4 << 20);
			}
		}
	}

	@Test
	void requestIsReadOnceThereIsMemoryAlthoughNothingElseHappens() throws Exception {
		try (RpcFixture fixture = new RpcFixture()) {
			BytesClient bytes = fixture.client.proxy(Echo.class.getName(), BytesClient.class);
			bytes.bytes(new byte[1]).get(20, TimeUnit.SECONDS);
			long before = System.nanoTime();
			for (int succeeded = 0; succeeded < 3;) {
				RegisteredBuffer all = fixture.serverMemory.allocate(58 << 20);
				long failures = fixture.serverMemory.metrics().failures();
				CompletableFuture<byte[]> call = bytes.bytes(new byte[6 << 20]);
				RpcFixture.awaitTrue(() -> fixture.serverMemory.metrics().failures() > failures);
				all.release();
				try {
					assertThat(call.get(20, TimeUnit.SECONDS)).hasSize(6 << 20);
					succeeded++;
				}
				catch (ExecutionException ex) {
					// the machine was so slow that the wait for memory was over already
					assertThat(((RpcException) ex.getCause()).status()).isEqualTo(RpcStatus.RESOURCE_EXHAUSTED);
					assertThat(System.nanoTime() - before)
						.isLessThan(TestEnvironment.scaled(Duration.ofSeconds(60)).toNanos());
				}
			}
		}
	}

	@Test
	void cancelledInTheMiddleTheyLeaveTheConnectionAlone() throws Exception {
		try (RpcFixture fixture = new RpcFixture()) {
			BytesClient bytes = fixture.client.proxy(Echo.class.getName(), BytesClient.class);
			CompletableFuture<Void> sentinel = fixture.echo.never();
			for (int i = 0; i < TestEnvironment.rounds(60, 15); i++) {
				CompletableFuture<byte[]> call = bytes.bytes(new byte[LARGE]);
				long until = System.nanoTime() + this.random.nextInt(3_000_000);
				while (System.nanoTime() < until) {
					Thread.onSpinWait();
				}
				call.cancel(true);
			}
			byte[] sent = bytes(LARGE);
			assertThat(fixture.echo.bytes(sent)).isEqualTo(sent);
			assertThat(sentinel).as("the one connection is still there").isNotDone();
			sentinel.cancel(true);
			RpcFixture.awaitTrue(() -> fixture.server.activeCalls() == 0);
		}
	}

	@Test
	void deadlineInTheMiddleLeavesTheConnectionAlone() {
		try (RpcFixture fixture = new RpcFixture()) {
			BytesClient bytes = fixture.client.proxy(Echo.class.getName(), BytesClient.class);
			CompletableFuture<Void> sentinel = fixture.echo.never();
			for (int i = 0; i < TestEnvironment.rounds(40, 12); i++) {
				int micros = 100 + this.random.nextInt(3000);
				try {
					CallOptions.deadline(Duration.ofNanos(micros * 1000L)).on(fixture.echo).bytes(new byte[LARGE]);
				}
				catch (RpcException ex) {
					assertThat(ex.status()).as(ex.getMessage()).isEqualTo(RpcStatus.DEADLINE_EXCEEDED);
				}
			}
			assertThat(bytes.bytes(new byte[LARGE]).join()).hasSize(LARGE);
			assertThat(sentinel).as("the one connection is still there").isNotDone();
			sentinel.cancel(true);
		}
	}

	/** Each way takes several times as long as a peer may be silent. */
	@Test
	void whatMovesHasAllTheTimeItNeeds() throws Exception {
		Duration silence = Duration.ofSeconds(3);
		UnaryOperator<ChannelOptions> impatient = (channel) -> channel.withTimeouts(Duration.ofSeconds(5),
				Duration.ofMillis(200), silence);
		try (RpcFixture fixture = new RpcFixture((options) -> options.withChannel(impatient.apply(options.channel())),
				UnaryOperator.identity());
				TcpProxy network = new TcpProxy(fixture.server.address(), 2 << 20);
				RpcClient client = RpcClient.builder()
					.transport(fixture.clientTransport)
					.target(TestEnvironment.host(), network.address().getPort())
					.options(
							RpcClientOptions.DEFAULTS.withChannel(impatient.apply(RpcClientOptions.DEFAULTS.channel())))
					.build()) {
			byte[] sent = bytes(15 << 20);
			long start = System.nanoTime();
			Echo patient = CallOptions.deadline(Duration.ofMinutes(2)).on(client.proxy(Echo.class));
			assertThat(patient.bytes(sent)).isEqualTo(sent);
			assertThat(Duration.ofNanos(System.nanoTime() - start)).isGreaterThan(silence.multipliedBy(4));
		}
	}

	@Test
	void deathOfThePeerInTheMiddleGivesEverythingBack() throws Exception {
		try (RpcFixture fixture = new RpcFixture()) {
			BytesClient bytes = fixture.client.proxy(Echo.class.getName(), BytesClient.class);
			bytes.bytes(new byte[10]).get(10, TimeUnit.SECONDS);
			List<CompletableFuture<byte[]>> calls = new ArrayList<>();
			for (int i = 0; i < 8; i++) {
				calls.add(bytes.bytes(new byte[LARGE]));
			}
			fixture.serverTransport.close();
			for (CompletableFuture<byte[]> call : calls) {
				try {
					assertThat(call.get(20, TimeUnit.SECONDS)).hasSize(LARGE);
				}
				catch (ExecutionException ex) {
					assertThat(((RpcException) ex.getCause()).status()).isEqualTo(RpcStatus.UNAVAILABLE);
				}
			}
		}
	}

	private static ChannelOptions eager(ChannelOptions channel, int bytes) {
		return channel.withEagerLimit(bytes);
	}

	private static long readBytes(List<ChannelLoop> loops) {
		return loops.stream().mapToLong((loop) -> loop.metrics().readBytes()).sum();
	}

	private byte[] bytes(int size) {
		byte[] bytes = new byte[size];
		this.random.nextBytes(bytes);
		return bytes;
	}

	/** Calls {@link Echo#bytes} without waiting. */
	interface BytesClient {

		CompletableFuture<byte[]> bytes(byte[] bytes);

	}

}
