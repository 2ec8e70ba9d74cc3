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

package dev.rdmarpc.tools.ping;

import java.util.EnumSet;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import dev.rdmarpc.verbs.AccessFlag;
import dev.rdmarpc.verbs.ConnectOptions;
import dev.rdmarpc.verbs.iwarp.CrcMode;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.catchThrowable;

/** An initiator and a responder in one process. */
class PingTests {

	@ParameterizedTest
	@CsvSource({ "16, OFF, OFF", "64, OFF, REQUIRED", "1000, REQUIRED, OFF", "1441, AUTO, AUTO",
			"65535, REQUIRED, REQUIRED", "65536, OFF, OFF", "1048577, REQUIRED, REQUIRED", "16777216, OFF, OFF" })
	void whatIsSentComesBack(int size, CrcMode initiator, CrcMode responder) throws Exception {
		try (PingFixture fixture = new PingFixture(initiator, responder)) {
			int count = (size > 1 << 20) ? 3 : 100;
			PingReport report = fixture.ping(new PingPlan(size, count, 2, true, PingFixture.TIMEOUT));
			assertThat(report.latencies().getTotalCount()).isEqualTo(count);
			assertThat(report.latencies().getMinValue()).isPositive();
			assertThat(report.nanos()).isPositive();
			PingOutcome outcome = fixture.outcome();
			assertThat(outcome.failure()).isNull();
			assertThat(outcome.pings()).isEqualTo(count + 2L);
			assertThat(outcome.bytes()).isEqualTo((count + 2L) * size);
			assertThat(outcome).hasToString("127.0.0.1:" + outcome.peer().getPort() + ": " + (count + 2)
					+ " pings with " + outcome.bytes() + " bytes, ended in order");
		}
	}

	@Test
	void severalInitiatorsAreServedAtOnce() throws Exception {
		int initiators = 4;
		try (PingFixture fixture = new PingFixture()) {
			CountDownLatch connected = new CountDownLatch(initiators);
			List<CompletableFuture<PingReport>> reports = IntStream.range(0, initiators)
				.mapToObj((i) -> CompletableFuture.supplyAsync(() -> new PingInitiator(fixture.initiatorDevice,
						address(fixture), PingFixture.plan(100 + i, 200), (info) -> {
							connected.countDown();
							awaitZero(connected);
						})
					.run(), (task) -> new Thread(task, "initiator-" + i).start()))
				.toList();
			for (CompletableFuture<PingReport> report : reports) {
				assertThat(report.get(60, TimeUnit.SECONDS).latencies().getTotalCount()).isEqualTo(200);
			}
			for (int i = 0; i < initiators; i++) {
				assertThat(fixture.outcome().failure()).isNull();
			}
		}
	}

	@Test
	void theResponderGoesAway() throws Exception {
		try (PingFixture fixture = new PingFixture()) {
			PingPlan endless = PingFixture.plan(64, Long.MAX_VALUE);
			CountDownLatch connected = new CountDownLatch(1);
			PingInitiator initiator = new PingInitiator(fixture.initiatorDevice, address(fixture), endless,
					(info) -> connected.countDown());
			CompletableFuture<Throwable> failure = CompletableFuture.supplyAsync(() -> catchThrowable(initiator::run));
			awaitZero(connected);
			fixture.responder.close();
			assertThat(failure.get(30, TimeUnit.SECONDS)).isInstanceOf(PingException.class)
				.hasMessageMatching(
						"(the peer closed the connection|the connection was lost.*) while waiting for .*ping \\d+ of.*");
			assertThat(fixture.outcome().failure()).startsWith("stopped while waiting for");
		}
	}

	@Test
	void theInitiatorGoesAwayAmidAPing() throws Exception {
		try (PingFixture fixture = new PingFixture()) {
			try (PingConnection connection = new PingConnection(fixture.initiatorDevice, PingFixture.TIMEOUT)) {
				fixture.initiatorDevice
					.connect(connection.queuePair(), fixture.responder.localAddress(), ConnectOptions.DEFAULTS)
					.get(10, TimeUnit.SECONDS);
				connection.send(connection.register(16, EnumSet.of(AccessFlag.LOCAL_WRITE)).remoteRegion(0, 16),
						"a ping that is cut short");
				connection.disconnect();
			}
			assertThat(fixture.outcome().failure()).contains("while waiting for the data of ping 1");
		}
	}

	@Test
	void aPortThatIsTakenIsNamed() {
		try (PingFixture fixture = new PingFixture()) {
			assertThatExceptionOfType(PingException.class).isThrownBy(() -> new PingResponder(fixture.initiatorDevice,
					fixture.responder.localAddress(), false, PingFixture.TIMEOUT, (outcome) -> {
					}))
				.withMessageStartingWith("port " + fixture.responder.localAddress().getPort() + " is taken");
		}
	}

	private static PingAddress address(PingFixture fixture) {
		return PingAddress.of(fixture.responder.localAddress());
	}

	private static void awaitZero(CountDownLatch latch) {
		try {
			assertThat(latch.await(30, TimeUnit.SECONDS)).isTrue();
		}
		catch (InterruptedException ex) {
			throw new AssertionError(ex);
		}
	}

}
