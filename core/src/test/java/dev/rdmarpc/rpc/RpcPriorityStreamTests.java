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
import java.util.function.ToLongFunction;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import dev.rdmarpc.TestEnvironment;
import dev.rdmarpc.transport.ChannelOptions;
import dev.rdmarpc.transport.ClassMetrics;
import dev.rdmarpc.transport.RdmaTransport;

import static org.assertj.core.api.Assertions.assertThat;

/** Messages of streams are ordered by the priority of their call. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class RpcPriorityStreamTests {

	private static final Duration DEADLINE = TestEnvironment.scaled(Duration.ofSeconds(50));

	/** Too large for a frame, so that it is read. */
	private static final int LARGE = 1 << 20;

	/** Too large to share a frame with others. */
	private static final int SMALL = 3000;

	private static final int MANY = 500;

	private static final int ATTEMPTS = 20;

	/** So few that messages wait for more. */
	private static final ChannelOptions FEW_CREDITS = ChannelOptions.DEFAULTS.withCredits(ChannelOptions.MIN_CREDITS,
			ChannelOptions.MIN_CREDITS);

	@ParameterizedTest
	@EnumSource(names = { "LOW", "HIGH" })
	void largeMessagesAreReadInTheClassOfTheirCall(Priority priority) throws Exception {
		streaming(priority, (tape, fixture) -> {
			assertThat(tape.take(messages(4, LARGE))).isEqualTo(4L * LARGE);
			assertThat(slices(fixture.serverTransport, priority)).isPositive();
			assertThat(slices(fixture.serverTransport, Priority.NORMAL)).isZero();
			try (Stream<byte[]> given = tape.give(4, LARGE)) {
				assertThat(given.mapToLong((bytes) -> bytes.length).sum()).isEqualTo(4L * LARGE);
			}
			assertThat(slices(fixture.clientTransport, priority)).isPositive();
			assertThat(slices(fixture.clientTransport, Priority.NORMAL)).isZero();
		});
	}

	@ParameterizedTest
	@EnumSource(names = { "LOW", "HIGH" })
	void messagesWaitToBeSentInTheClassOfTheirCall(Priority priority) throws Exception {
		streaming(priority, (tape, fixture) -> {
			assertThat(tape.take(Stream.empty())).isZero();
			long before = queued(fixture.clientTransport, Priority.NORMAL);
			for (int i = 0; i < ATTEMPTS && queued(fixture.clientTransport, priority) == 0; i++) {
				assertThat(tape.take(messages(MANY, SMALL))).isEqualTo((long) MANY * SMALL);
			}
			assertThat(queued(fixture.clientTransport, priority)).isPositive();
			assertThat(queued(fixture.clientTransport, Priority.NORMAL)).isEqualTo(before);
			for (int i = 0; i < ATTEMPTS && queued(fixture.serverTransport, priority) == 0; i++) {
				try (Stream<byte[]> given = tape.give(MANY, SMALL)) {
					assertThat(given.mapToLong((bytes) -> bytes.length).sum()).isEqualTo((long) MANY * SMALL);
				}
			}
			assertThat(queued(fixture.serverTransport, priority)).isPositive();
			assertThat(queued(fixture.serverTransport, Priority.NORMAL)).isZero();
		});
	}

	private static void streaming(Priority priority, Check check) throws Exception {
		try (RpcFixture fixture = new RpcFixture();
				RpcServer server = fixture.startServer(RpcFixture.serverOptions(0).withChannel(FEW_CREDITS), Tape.class,
						new Recorder());
				RpcClient client = fixture.newClient(server,
						(options) -> options.withDefaultDeadline(DEADLINE).withChannel(FEW_CREDITS))) {
			check.check(CallOptions.NONE.withPriority(priority).on(client.proxy(Tape.class)), fixture);
			RpcFixture.awaitTrue(() -> server.activeCalls() == 0);
		}
	}

	private static Stream<byte[]> messages(int count, int bytes) {
		return IntStream.range(0, count).mapToObj((number) -> new byte[bytes]);
	}

	private static long slices(RdmaTransport transport, Priority priority) {
		return sum(transport, (classes) -> classes.slices(priority.code()));
	}

	private static long queued(RdmaTransport transport, Priority priority) {
		return sum(transport, (classes) -> classes.queuedMessages(priority.code()));
	}

	private static long sum(RdmaTransport transport, ToLongFunction<ClassMetrics> count) {
		return transport.loops().stream().mapToLong((loop) -> count.applyAsLong(loop.metrics().classes())).sum();
	}

	/** Streams in both directions. */
	interface Tape {

		long take(Stream<byte[]> messages);

		Stream<byte[]> give(int count, int bytes);

	}

	/** What a test does. */
	private interface Check {

		void check(Tape tape, RpcFixture fixture) throws Exception;

	}

	private static final class Recorder implements Tape {

		@Override
		public long take(Stream<byte[]> messages) {
			return messages.mapToLong((bytes) -> bytes.length).sum();
		}

		@Override
		public Stream<byte[]> give(int count, int bytes) {
			return messages(count, bytes);
		}

	}

}
