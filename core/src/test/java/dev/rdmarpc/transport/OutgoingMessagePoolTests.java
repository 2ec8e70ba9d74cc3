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

package dev.rdmarpc.transport;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import dev.rdmarpc.Await;
import dev.rdmarpc.codec.MessageSegments;
import dev.rdmarpc.memory.LeakDetection;
import dev.rdmarpc.memory.RegisteredBuffer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/** The memory of outgoing messages, which small ones keep. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class OutgoingMessagePoolTests {

	private static final int SMALL = 100;

	private static final int LARGE = 20_000;

	/** As many as stay idle for longer. */
	private static final int MANY = 64;

	private static OutgoingMessage prepare(RpcChannel channel, int bytes) {
		return prepare(channel, new StubCall(), bytes);
	}

	private static OutgoingMessage prepare(RpcChannel channel, PendingCall call, int bytes) {
		MessageSegments message = new MessageSegments();
		message.addBytes(ByteBuffer.allocate(bytes));
		return channel.prepareRequest(call, new RequestTemplate(7, 1, 0), Long.MAX_VALUE, 0,
				RequestTemplate.NO_METADATA, message);
	}

	/** Allocations of messages that there are at once. */
	private static long allocationsOf(LoopFixture fixture, RpcChannel channel, int messages, int bytes) {
		long before = fixture.memory.metrics().allocations();
		Stream.generate(() -> prepare(channel, bytes)).limit(messages).toList().forEach(OutgoingMessage::abort);
		return fixture.memory.metrics().allocations() - before;
	}

	private static LoopFixture plenty() {
		return fixture(64L << 20, LeakDetection.DISABLED);
	}

	private static LoopFixture fixture(long memoryBytes, LeakDetection leakDetection) {
		return new LoopFixture(ChannelOptions.DEFAULTS.frameBytes(), 1024, memoryBytes, Duration.ZERO, leakDetection);
	}

	private static RpcChannel channel(LoopFixture fixture) {
		return fixture.client(ChannelOptions.DEFAULTS, new RecordingHandler(), 16);
	}

	@Test
	void smallMessagesKeepTheirMemory() throws Exception {
		try (LoopFixture fixture = plenty()) {
			fixture.drive(() -> {
				RpcChannel channel = channel(fixture);
				assertThat(allocationsOf(fixture, channel, MANY, SMALL)).as("at first").isPositive();
				assertThat(allocationsOf(fixture, channel, MANY, SMALL)).as("later").isZero();
				assertThat(allocationsOf(fixture, channel, 4, LARGE)).as("of large ones").isEqualTo(4);
				assertThat(allocationsOf(fixture, channel, MANY, SMALL)).as("after large ones").isZero();
			});
		}
	}

	@Test
	void messagesThatThereAreAtOnceDoNotShareMemory() throws Exception {
		try (LoopFixture fixture = plenty()) {
			fixture.drive(() -> {
				RpcChannel channel = channel(fixture);
				allocationsOf(fixture, channel, MANY, SMALL);
				ArrayDeque<OutgoingMessage> messages = new ArrayDeque<>();
				for (int i = 0; i < 2 * MANY; i++) {
					messages.add(prepare(channel, SMALL));
				}
				assertThat(messages.stream().map(OutgoingMessage::memory).distinct()).hasSize(2 * MANY);
				messages.forEach(OutgoingMessage::abort);
			});
		}
	}

	@Test
	void whatManyHaveKeptIsGivenBackInTime() throws Exception {
		try (LoopFixture fixture = plenty()) {
			fixture.drive(() -> {
				RpcChannel channel = channel(fixture);
				long before = fixture.memory.metrics().outstanding();
				ArrayDeque<OutgoingMessage> messages = new ArrayDeque<>();
				for (int i = 0; i < 10 * MANY; i++) {
					messages.add(prepare(channel, SMALL));
				}
				messages.forEach(OutgoingMessage::abort);
				assertThat(fixture.memory.metrics().outstanding()).isEqualTo(before + 10 * MANY);
				tick(fixture, 10 * MANY / 16);
				assertThat(fixture.memory.metrics().outstanding()).isBetween(before, before + MANY);
				assertThat(allocationsOf(fixture, channel, MANY / 2, SMALL)).as("of a few").isZero();
				tick(fixture, MANY);
				assertThat(fixture.memory.metrics().outstanding()).as("after a while").isLessThanOrEqualTo(before);
			});
		}
	}

	private static void tick(LoopFixture fixture, int count) {
		for (int i = 0; i < count; i++) {
			fixture.loop.outgoingMessages().tick();
		}
	}

	@Test
	void noneIsKeptWhereMemoryIsLittle() throws Exception {
		keepsNothing(8L << 20, LeakDetection.DISABLED);
	}

	@Test
	void noneIsKeptWhereLeaksAreLookedFor() throws Exception {
		keepsNothing(64L << 20, LeakDetection.PARANOID);
	}

	private static void keepsNothing(long memoryBytes, LeakDetection leakDetection) throws Exception {
		try (LoopFixture fixture = fixture(memoryBytes, leakDetection)) {
			fixture.drive(() -> {
				RpcChannel channel = channel(fixture);
				long before = fixture.memory.metrics().allocatedBytes();
				for (int i = 0; i < 2; i++) {
					assertThat(allocationsOf(fixture, channel, MANY, SMALL)).isEqualTo(MANY);
					assertThat(fixture.memory.metrics().allocatedBytes()).isEqualTo(before);
				}
			});
		}
	}

	/** It would wait for its time to end otherwise. */
	@Test
	void whoeverWaitsForMemoryGetsWhatWasKept() throws Exception {
		try (LoopFixture fixture = new LoopFixture(ChannelOptions.DEFAULTS.frameBytes(), 1024, 16L << 20,
				Duration.ofSeconds(30), LeakDetection.DISABLED)) {
			fixture.drive(() -> {
				RpcChannel channel = channel(fixture);
				allocationsOf(fixture, channel, MANY, SMALL);
				OutgoingMessage late = prepare(channel, SMALL);
				List<RegisteredBuffer> all = new ArrayList<>(fixture.takeAllMemory());
				CompletableFuture<RegisteredBuffer> first = waiting(fixture);
				long before = fixture.memory.metrics().outstanding();
				tick(fixture, 1);
				all.add(first.get(20, TimeUnit.SECONDS));
				assertThat(fixture.memory.metrics().outstanding()).as("all of it")
					.isLessThanOrEqualTo(before - MANY + 2);
				all.addAll(fixture.takeAllMemory());
				CompletableFuture<RegisteredBuffer> second = waiting(fixture);
				late.abort();
				all.add(second.get(20, TimeUnit.SECONDS));
				all.forEach(RegisteredBuffer::release);
			});
		}
	}

	private static CompletableFuture<RegisteredBuffer> waiting(LoopFixture fixture) {
		CompletableFuture<RegisteredBuffer> waiting = CompletableFuture
			.supplyAsync(() -> fixture.memory.allocate(SMALL));
		Await.until(fixture.memory::isAwaited);
		return waiting;
	}

	@Test
	void aMessageThatCannotBeMadeKeepsNothing() throws Exception {
		try (LoopFixture fixture = plenty()) {
			fixture.drive(() -> {
				RpcChannel channel = channel(fixture);
				allocationsOf(fixture, channel, MANY, SMALL);
				PendingCall broken = new StubCall() {
					@Override
					public @Nullable StreamReceiver streamReceiver() {
						throw new IllegalStateException("of the test");
					}
				};
				long before = fixture.memory.metrics().allocatedBytes();
				for (int i = 0; i < MANY; i++) {
					assertThatIllegalStateException().isThrownBy(() -> prepare(channel, broken, SMALL));
				}
				assertThat(fixture.memory.metrics().allocatedBytes()).isLessThan(before);
			});
		}
	}

	/** Which the fixture sees when it is closed. */
	@Test
	void whatIsGivenBackAfterTheEndIsNotKept() throws Exception {
		try (LoopFixture fixture = plenty()) {
			ArrayDeque<OutgoingMessage> messages = new ArrayDeque<>();
			fixture.drive(() -> {
				RpcChannel channel = channel(fixture);
				for (int i = 0; i < MANY; i++) {
					messages.add(prepare(channel, SMALL));
				}
			});
			fixture.loop.close();
			messages.forEach(OutgoingMessage::abort);
		}
	}

}
