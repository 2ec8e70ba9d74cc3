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

import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Flow;
import java.util.concurrent.atomic.AtomicInteger;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import dev.rdmarpc.Await;
import dev.rdmarpc.flatbuffers.FlatBuffersCodec;
import dev.rdmarpc.transport.CallFailure;
import dev.rdmarpc.transport.ChannelLoop;
import dev.rdmarpc.transport.StreamReceiver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** Subscribers that are told of messages when there is no memory for it. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class InterruptedDeliveryTests {

	private static final MethodDescriptor METHOD = ServiceDescriptor
		.of(Echo.class.getName(), Echo.class, new FlatBuffersCodec())
		.methods()
		.iterator()
		.next();

	private final RpcFixture fixture = new RpcFixture();

	private final RpcClient client = this.fixture.newClient(this.fixture.server);

	private final Queue<String> events = new ConcurrentLinkedQueue<>();

	private final Interrupted subscription = new Interrupted();

	@AfterEach
	void nothingIsOutstanding() {
		this.client.close();
		this.fixture.close();
	}

	@Test
	void endIsToldThoughTellingItFailedAtFirst() {
		this.subscription.greet(new Noting());
		this.subscription.failing = true;
		this.subscription.endHere();
		Await.until(() -> !this.events.isEmpty());
		assertThat(this.events).containsExactly("RESOURCE_EXHAUSTED");
		assertThat(this.subscription.abandoned).hasValue(1);
	}

	@Test
	void demandIsGrantedThoughAnEarlierOneWasNot() {
		this.subscription.greet(new Noting());
		this.subscription.failing = true;
		assertThatExceptionOfType(OutOfMemoryError.class).isThrownBy(() -> this.subscription.request(1));
		this.subscription.request(1);
		Await.until(() -> this.subscription.takeDemand() == 0 && this.subscription.granted.get() == 1);
	}

	/** Ends well, but for what fails once. */
	private final class Interrupted extends MessageSubscription {

		private final ChannelLoop loop;

		private final AtomicInteger abandoned = new AtomicInteger();

		private final AtomicInteger granted = new AtomicInteger();

		private final StreamReceiver receiver = new StreamReceiver(4096, this);

		private volatile boolean failing;

		Interrupted() {
			super(METHOD, METHOD.result(), false);
			InterruptedDeliveryTests.this.client.proxy(Echo.class).add(1, 2);
			this.loop = List.copyOf(InterruptedDeliveryTests.this.fixture.clientTransport.loops()).get(0);
		}

		private void failOnce() {
			if (this.failing) {
				this.failing = false;
				throw new OutOfMemoryError("test");
			}
		}

		@Override
		StreamReceiver receiver() {
			this.granted.incrementAndGet();
			return this.receiver;
		}

		@Override
		ChannelLoop loop() {
			failOnce();
			return this.loop;
		}

		@Override
		boolean isStarted() {
			return true;
		}

		@Override
		void abandon() {
			this.abandoned.incrementAndGet();
		}

		@Override
		@Nullable MethodDescriptor called() {
			return null;
		}

		@Override
		RpcStatus malformed() {
			return RpcStatus.INTERNAL;
		}

		@Override
		@Nullable RpcException outcome() {
			failOnce();
			return null;
		}

		@Override
		void closing(RpcStatus status, @Nullable Throwable failure) {
			// nothing to close
		}

		@Override
		public void onEnd() {
			endAfterTurn();
		}

		@Override
		public void onLost(CallFailure why, String detail) {
			endAfterTurn();
		}

		@Override
		public void run() {
			finishWork();
		}

		@Override
		public void runElsewhere() {
			finishWork();
		}

	}

	/** Notes down the end. */
	private final class Noting implements Flow.Subscriber<Object> {

		@Override
		public void onSubscribe(Flow.Subscription begun) {
			// asks for nothing yet
		}

		@Override
		public void onNext(Object item) {
			InterruptedDeliveryTests.this.events.add("item");
		}

		@Override
		public void onError(Throwable failure) {
			InterruptedDeliveryTests.this.events.add(RpcException.in(failure).status().name());
		}

		@Override
		public void onComplete() {
			InterruptedDeliveryTests.this.events.add("complete");
		}

	}

}
