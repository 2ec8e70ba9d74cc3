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

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Flow;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

import dev.rdmarpc.transport.Frames;

import static org.assertj.core.api.Assertions.assertThat;

/** A server does not work for callers that have gone, however they have. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class RpcGoneCallerTests {

	private static final int REPLY = 4;

	private final Workshop service = new Workshop();

	private static byte[] request(int requestId, String method) {
		return Frames.request(0, requestId, MethodDescriptor.idOf(Work.class.getName(), method), 0, 0, new byte[0]);
	}

	/** How a caller goes. */
	enum Going {

		/** It says so. */
		CANCEL,

		/** Its connection ends. */
		DISCONNECT,

		/** Its deadline passes, and it does not say so. */
		DEADLINE;

		byte[] begin(byte[] request) {
			return (this == DEADLINE) ? Frames.withInt(request, 24, 1_000_000) : request;
		}

		void end(RawPeer peer) {
			switch (this) {
				case CANCEL -> peer.sendFairly(Frames.control(6, 0, 1));
				case DISCONNECT -> peer.leave();
				case DEADLINE -> peer.poll();
			}
		}

	}

	static List<Arguments> goings() {
		List<Arguments> all = new ArrayList<>();
		for (Going going : Going.values()) {
			for (Dispatch dispatch : Dispatch.values()) {
				all.add(Arguments.of(going, dispatch));
			}
		}
		return all;
	}

	private void assertStops(Going going, Dispatch dispatch, byte[] request) {
		try (RpcFixture fixture = new RpcFixture();
				RpcServer server = fixture.startServer(
						RpcFixture.serverOptions(0).withHandlers(HandlerOptions.DEFAULTS.withDispatch(dispatch)),
						Work.class, this.service)) {
			try (RawPeer peer = RawPeer.open(server.port(), 32)) {
				peer.sendFairly(going.begin(request));
				RpcFixture.awaitTrue(() -> this.service.begun.get() == 1);
				going.end(peer);
				RpcFixture.awaitTrue(() -> this.service.stopped.get() == 1);
				RpcFixture.awaitTrue(() -> server.activeCalls() == 0);
				if (going == Going.DEADLINE) {
					byte[] reply = peer.receive(REPLY);
					assertThat(reply[16]).isEqualTo((byte) RpcStatus.DEADLINE_EXCEEDED.code());
					assertThat(new String(reply, StandardCharsets.ISO_8859_1)).as("the handler has begun")
						.doesNotContain(Replies.REFUSED_KEY);
				}
			}
		}
	}

	@ParameterizedTest
	@MethodSource("goings")
	void blockingHandlersAreInterrupted(Going going, Dispatch dispatch) {
		assertStops(going, dispatch, request(1, "block"));
	}

	@ParameterizedTest
	@MethodSource("goings")
	void futuresAreCancelled(Going going, Dispatch dispatch) {
		assertStops(going, dispatch, request(1, "later"));
	}

	@ParameterizedTest
	@EnumSource(Going.class)
	void publishersAreCancelled(Going going) {
		assertStopsStream(going, Frames.streamed(request(1, "publish"), 10));
	}

	@ParameterizedTest
	@EnumSource(Going.class)
	void sourcesThatBlockAreInterruptedAndClosed(Going going) {
		assertStopsStream(going, Frames.streamed(request(1, "iterate"), 10));
	}

	@ParameterizedTest
	@EnumSource(Going.class)
	void handlersThatAwaitMessagesAreInterrupted(Going going) {
		assertStopsStream(going, Frames.followed(request(1, "await")));
	}

	private void assertStopsStream(Going going, byte[] request) {
		try (RpcFixture fixture = new RpcFixture(); RpcServer server = fixture.startServer(Work.class, this.service)) {
			try (RawPeer peer = RawPeer.connect(server.port())) {
				peer.send(Frames.withStreams(Frames.hello(1, 32), 65_536));
				byte[] hello = peer.receive();
				peer.credits = RawPeer.view(hello).getShort(36) & 0xFFFF;
				peer.sendFairly(going.begin(request));
				RpcFixture.awaitTrue(() -> this.service.begun.get() == 1);
				going.end(peer);
				RpcFixture.awaitTrue(() -> this.service.stopped.get() == 1);
				RpcFixture.awaitTrue(() -> server.activeCalls() == 0);
			}
		}
	}

	/** The thread serves others, which are not interrupted for it. */
	@Test
	void anInterruptIsForTheCallThatHasEnded() {
		try (RpcFixture fixture = new RpcFixture();
				RpcServer server = fixture.startServer(RpcFixture.serverOptions(0)
					.withHandlers(HandlerOptions.DEFAULTS.withDispatch(Dispatch.EXECUTOR)
						.withThreads(HandlerThreads.PLATFORM, 1)), Work.class, this.service);
				RawPeer peer = RawPeer.open(server.port(), 32)) {
			for (int i = 0; i < 4; i++) {
				peer.sendFairly(Going.DEADLINE.begin(request(1 | (2 * i) << 16, "block")));
				peer.sendFairly(request(2 | (2 * i) << 16, "isInterrupted"));
				byte[] first = peer.receive(REPLY);
				byte[] second = peer.receive(REPLY);
				byte[] late = (RawPeer.view(first).getShort(4) == 1) ? first : second;
				byte[] other = (late == first) ? second : first;
				assertThat(late[16]).isEqualTo((byte) RpcStatus.DEADLINE_EXCEEDED.code());
				assertThat(other[16]).isEqualTo((byte) RpcStatus.OK.code());
				RpcFixture.awaitTrue(() -> this.service.stopped.get() == this.service.begun.get());
			}
			assertThat(this.service.interruptedOthers).hasValue(0);
			RpcFixture.awaitTrue(() -> server.activeCalls() == 0);
		}
	}

	/** The service. */
	interface Work {

		void block();

		CompletableFuture<Void> later();

		Flow.Publisher<Integer> publish();

		Stream<Integer> iterate();

		void await(Stream<Integer> numbers);

		void isInterrupted();

	}

	private static final class Workshop implements Work {

		private final AtomicInteger begun = new AtomicInteger();

		private final AtomicInteger stopped = new AtomicInteger();

		private final AtomicInteger interruptedOthers = new AtomicInteger();

		@Override
		public void block() {
			this.begun.incrementAndGet();
			hang();
		}

		private void hang() {
			try {
				assertThat(new CountDownLatch(1).await(50, TimeUnit.SECONDS)).isTrue();
			}
			catch (InterruptedException ex) {
				this.stopped.incrementAndGet();
			}
		}

		@Override
		public CompletableFuture<Void> later() {
			CompletableFuture<Void> never = new CompletableFuture<>();
			never.whenComplete((result, failure) -> {
				if (never.isCancelled()) {
					this.stopped.incrementAndGet();
				}
			});
			this.begun.incrementAndGet();
			return never;
		}

		@Override
		public Flow.Publisher<Integer> publish() {
			return (subscriber) -> subscriber.onSubscribe(new Flow.Subscription() {

				@Override
				public void request(long messages) {
					Workshop.this.begun.incrementAndGet();
				}

				@Override
				public void cancel() {
					Workshop.this.stopped.incrementAndGet();
				}

			});
		}

		@Override
		public Stream<Integer> iterate() {
			AtomicInteger before = new AtomicInteger();
			return Stream.generate(() -> {
				this.begun.incrementAndGet();
				try {
					assertThat(new CountDownLatch(1).await(50, TimeUnit.SECONDS)).isTrue();
				}
				catch (InterruptedException ex) {
					before.incrementAndGet();
				}
				return 1;
			}).onClose(() -> {
				if (before.get() == 1) {
					this.stopped.incrementAndGet();
				}
			});
		}

		@Override
		public void await(Stream<Integer> numbers) {
			this.begun.incrementAndGet();
			try {
				numbers.forEach((number) -> this.interruptedOthers.incrementAndGet());
			}
			catch (RpcException ex) {
				this.stopped.incrementAndGet();
				throw ex;
			}
		}

		@Override
		public void isInterrupted() {
			if (Thread.currentThread().isInterrupted()) {
				this.interruptedOthers.incrementAndGet();
			}
		}

	}

}
