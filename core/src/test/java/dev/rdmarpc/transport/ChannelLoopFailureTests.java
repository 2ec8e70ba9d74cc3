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

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import dev.rdmarpc.Await;
import dev.rdmarpc.codec.MessageSegments;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Whatever is thrown on a loop ends at most the channel that it concerns, and loses
 * nothing; the fixture checks that all memory came back.
 */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@Tag("slow")
class ChannelLoopFailureTests {

	private static final byte[] REQUEST = Frames.request(0, 1, 7, 0, 4, new byte[4]);

	@ParameterizedTest
	@EnumSource
	void pollThatFailsDoesNotRepeatTheCompletionsBefore(Failure failure) throws Exception {
		try (LoopFixture fixture = new LoopFixture()) {
			RecordingHandler handler = new RecordingHandler();
			AtomicInteger polls = new AtomicInteger();
			fixture.drive(() -> {
				RpcChannel channel = fixture.server(ChannelOptions.DEFAULTS, handler, 16);
				fixture.deliver(channel, REQUEST);
				fixture.completions.onPoll = () -> {
					if (polls.getAndIncrement() < 3) {
						failure.fire();
					}
				};
			});
			Await.until(() -> polls.get() > 6);
			fixture.drive(() -> assertThat(handler.events).containsExactly("open", "request 1 of 4"));
		}
	}

	@ParameterizedTest
	@EnumSource
	void handlerThatThrowsEndsItsOwnChannelOnly(Failure failure) throws Exception {
		try (LoopFixture fixture = new LoopFixture()) {
			RecordingHandler broken = new RecordingHandler() {
				@Override
				public void onRequest(RpcChannel channel, IncomingMessage request) {
					failure.fire();
				}

				@Override
				public void onClosed(RpcChannel channel, String reason) {
					super.onClosed(channel, reason);
					failure.fire();
				}
			};
			RecordingHandler good = new RecordingHandler();
			fixture.drive(() -> {
				RpcChannel first = fixture.server(ChannelOptions.DEFAULTS, broken, 16);
				RpcChannel second = fixture.server(ChannelOptions.DEFAULTS, good, 16);
				fixture.deliver(first, REQUEST);
				assertThat(first.state()).isEqualTo(ChannelState.CLOSED);
				assertThat(broken.events).last().asString().startsWith("closed: internal error");
				fixture.deliver(second, REQUEST);
				assertThat(good.events).last().isEqualTo("request 1 of 4");
			});
			Await.until(() -> fixture.loop.channels().size() == 1);
		}
	}

	@ParameterizedTest
	@EnumSource
	void callThatFailsToTakeItsReplyIsFailed(Failure failure) throws Exception {
		try (LoopFixture fixture = new LoopFixture()) {
			AtomicBoolean failed = new AtomicBoolean();
			PendingCall broken = new BrokenCall(failure, failed);
			StubCall good = new StubCall();
			fixture.drive(() -> {
				RpcChannel channel = fixture.client(ChannelOptions.DEFAULTS, new RecordingHandler(), 16);
				submit(channel, broken);
				submit(channel, good);
				fixture.turn();
				fixture.deliver(channel, Frames.reply(0, broken.requestId(), 0, 0, new byte[0]));
				assertThat(failed).isTrue();
				fixture.deliver(channel, Frames.reply(0, good.requestId(), 0, 0, new byte[0]));
				assertThat(good.status).isZero();
				LoopFixture.pair(channel).completeAll();
			});
		}
	}

	@ParameterizedTest
	@EnumSource
	void deviceThatCannotPostEndsTheChannelAndItsCalls(Failure failure) throws Exception {
		try (LoopFixture fixture = new LoopFixture()) {
			StubCall call = new StubCall();
			fixture.drive(() -> {
				RpcChannel channel = fixture.client(ChannelOptions.DEFAULTS, new RecordingHandler(), 16);
				LoopFixture.pair(channel).onPost = failure::fire;
				submit(channel, call);
				fixture.turn();
				assertThat(channel.state()).isEqualTo(ChannelState.CLOSED);
				assertThat(call.failure).isEqualTo(CallFailure.CONNECTION_LOST);
			});
		}
	}

	@ParameterizedTest
	@EnumSource
	void channelEndsThoughItsDeviceFailsToLeaveTheConnection(Failure failure) throws Exception {
		try (LoopFixture fixture = new LoopFixture()) {
			StubCall call = new StubCall();
			RecordingHandler handler = new RecordingHandler();
			AtomicInteger closings = new AtomicInteger();
			FakeQueuePair[] pair = new FakeQueuePair[1];
			fixture.drive(() -> {
				RpcChannel channel = fixture.client(ChannelOptions.DEFAULTS, handler, 16);
				pair[0] = LoopFixture.pair(channel);
				submit(channel, call);
				fixture.turn();
				pair[0].onDisconnect = () -> {
					pair[0].onDisconnect = () -> {
					};
					failure.fire();
				};
				pair[0].onClose = () -> {
					if (closings.getAndIncrement() < 3) {
						failure.fire();
					}
				};
				fixture.deliver(channel, new byte[3]);
				assertThat(call.failure).isEqualTo(CallFailure.CONNECTION_LOST);
				assertThat(handler.events).last().asString().startsWith("closed: protocol violation");
				assertThat(fixture.loop.channels()).isEmpty();
			});
			Await.until(() -> pair[0].closed);
		}
	}

	@Test
	void channelsAreSeenWhileACallbackBlocksTheLoop() throws Exception {
		try (LoopFixture fixture = new LoopFixture()) {
			fixture.drive(() -> fixture.server(ChannelOptions.DEFAULTS, new RecordingHandler(), 16));
			CountDownLatch release = new CountDownLatch(1);
			Thread blocked = block(fixture.loop, release);
			assertThat(fixture.loop.channels()).hasSize(1);
			fixture.loop.drain();
			assertThat(fixture.loop.isDraining()).isTrue();
			Await.until(() -> fixture.loop.problem() != null);
			release.countDown();
			blocked.join();
			Await.until(() -> fixture.loop.problem() == null);
		}
	}

	@Test
	void loopHeldUpWhenItClosesGivesEverythingBackLater() throws Exception {
		CountDownLatch release = new CountDownLatch(1);
		try (LoopFixture fixture = new LoopFixture()) {
			StubCall call = new StubCall();
			fixture.drive(() -> {
				RpcChannel channel = fixture.client(ChannelOptions.DEFAULTS, new RecordingHandler(), 16);
				submit(channel, call);
			});
			Thread blocked = block(fixture.loop, release);
			fixture.loop.close();
			assertThat(call.isDone()).isFalse();
			release.countDown();
			blocked.join();
			assertThat(call.failure).isEqualTo(CallFailure.CONNECTION_LOST);
			assertThat(fixture.completions.closed).isTrue();
		}
	}

	/** Whoever closes a transport gives its memory back next. */
	@Test
	void returnsFromCloseWhenAnotherThreadHasClosedIt() throws Exception {
		CountDownLatch release = new CountDownLatch(1);
		try (LoopFixture fixture = new LoopFixture()) {
			fixture.drive(() -> fixture.client(ChannelOptions.DEFAULTS, new RecordingHandler(), 16));
			Thread blocked = block(fixture.loop, release);
			Thread first = new Thread(fixture.loop::close, "closes-first");
			first.start();
			Await.until(() -> waits(first));
			AtomicBoolean closed = new AtomicBoolean();
			Thread second = new Thread(() -> {
				fixture.loop.close();
				closed.set(fixture.completions.closed);
			}, "closes-second");
			second.start();
			Await.until(() -> waits(second) || !second.isAlive());
			release.countDown();
			second.join();
			assertThat(closed).as("closed when close returns").isTrue();
			first.join();
			blocked.join();
		}
	}

	/**
	 * Starts a thread that blocks the loop as its driver until it is released. Where
	 * another thread drives just then it tries again: what it leaves would block that
	 * one.
	 */
	private static Thread block(ChannelLoop loop, CountDownLatch release) throws InterruptedException {
		CountDownLatch held = new CountDownLatch(1);
		AtomicReference<Thread> blocked = new AtomicReference<>();
		Runnable block = () -> {
			if (Thread.currentThread() == blocked.get()) {
				held.countDown();
				awaitUninterrupted(release);
			}
		};
		Thread thread = new Thread(() -> {
			while (held.getCount() > 0) {
				loop.execute(block);
			}
		}, "blocked-by-the-test");
		blocked.set(thread);
		thread.start();
		assertThat(held.await(20, TimeUnit.SECONDS)).isTrue();
		return thread;
	}

	private static boolean waits(Thread thread) {
		return thread.getState() == Thread.State.TIMED_WAITING;
	}

	private static void awaitUninterrupted(CountDownLatch release) {
		while (release.getCount() > 0) {
			LockSupport.parkNanos(1_000_000);
		}
	}

	private static void submit(RpcChannel channel, PendingCall call) {
		MessageSegments message = new MessageSegments();
		channel
			.prepareRequest(call, new RequestTemplate(7, 1, 0), Long.MAX_VALUE, 0, RequestTemplate.NO_METADATA, message)
			.submit();
	}

	/** A call that takes neither its reply nor, in good order, its failure. */
	private static final class BrokenCall implements PendingCall {

		private final Failure failure;

		private final AtomicBoolean failed;

		private int requestId;

		BrokenCall(Failure failure, AtomicBoolean failed) {
			this.failure = failure;
			this.failed = failed;
		}

		@Override
		public void onStarted(int id) {
			this.requestId = id;
		}

		@Override
		public int requestId() {
			return this.requestId;
		}

		@Override
		public void onReply(IncomingMessage reply) {
			this.failure.fire();
		}

		@Override
		public void onFailure(CallFailure why, String detail) {
			this.failed.set(true);
			this.failure.fire();
		}

		@Override
		public boolean isDone() {
			return this.failed.get();
		}

	}

}
