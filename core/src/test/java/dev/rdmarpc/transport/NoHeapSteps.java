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

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;

import dev.rdmarpc.NoHeap;
import dev.rdmarpc.codec.MessageSegments;
import dev.rdmarpc.codec.ReceivedMemory;
import dev.rdmarpc.memory.MemoryOptions;
import dev.rdmarpc.memory.RegisteredBuffer;
import dev.rdmarpc.memory.RegisteredMemory;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A process that takes a step, named by its argument, with its heap and then without.
 */
public final class NoHeapSteps {

	static final String GOOD = "all is well";

	private static final int STEPS = 100;

	private static final Map<String, Step> STEPS_BY_NAME = Map.of("slice", NoHeapSteps::slice, "segment",
			NoHeapSteps::segment, "received part", NoHeapSteps::receivedPart, "call too many", NoHeapSteps::callTooMany,
			"retired channel", NoHeapSteps::retiredChannel);

	private NoHeapSteps() {
	}

	@SuppressWarnings("SystemOut")
	public static void main(String[] arguments) throws Exception {
		Step step = STEPS_BY_NAME.get(arguments[0]);
		step.run(false);
		step.run(true);
		System.out.println(GOOD);
	}

	private static void slice(boolean noHeap) {
		try (RegisteredMemory memory = memory()) {
			RegisteredBuffer buffer = memory.allocate(1000);
			List<RegisteredBuffer> slices = new ArrayList<>(STEPS);
			repeat(noHeap, () -> slices.add(buffer.slice(0, 100)));
			slices.forEach(RegisteredBuffer::release);
			assertThat(buffer.release()).as("the last reference").isTrue();
		}
	}

	private static void segment(boolean noHeap) {
		try (RegisteredMemory memory = memory()) {
			RegisteredBuffer buffer = memory.allocate(1000);
			MessageSegments message = new MessageSegments();
			repeat(noHeap, () -> message.add(buffer, 0, 100));
			message.clear();
			assertThat(buffer.release()).as("the last reference").isTrue();
		}
	}

	private static void receivedPart(boolean noHeap) {
		try (RegisteredMemory memory = memory()) {
			RegisteredBuffer buffer = memory.allocate(1000);
			List<RegisteredBuffer> slices = new ArrayList<>();
			for (int i = 0; i < STEPS; i++) {
				slices.add(buffer.slice(0, 100));
			}
			slices.forEach(RegisteredBuffer::release);
			ReceivedMemory received = ReceivedMemory.given();
			received.begin(buffer);
			repeat(noHeap, () -> received.slice(0, 100));
			received.release();
			assertThat(buffer.release()).as("the last reference").isTrue();
		}
	}

	private static void callTooMany(boolean noHeap) throws Exception {
		try (LoopFixture fixture = new LoopFixture()) {
			fixture.drive(() -> {
				RpcChannel channel = fixture.client(ChannelOptions.DEFAULTS.withLimits(1 << 20, 1),
						new RecordingHandler(), 32);
				StubCall first = new StubCall();
				request(channel, first).submit();
				GreedyCall second = new GreedyCall(noHeap);
				request(channel, second).submit();
				NoHeap.giveBack();
				assertThat(second.told).as("it was told that there are too many").isTrue();
				channel.shut("the end");
				assertThat(first.ends).isOne();
				fixture.turn();
			});
		}
	}

	private static void retiredChannel(boolean noHeap) {
		AtomicInteger disposed = new AtomicInteger();
		RetiredChannels retired = new RetiredChannels();
		RetiredChannels.Retired channel = new RetiredChannels.Retired("channel", (most) -> 0, () -> true,
				disposed::incrementAndGet);
		retired.reserve(1);
		if (noHeap) {
			assertThat(NoHeap.fails(() -> retired.add(channel, 0))).as("needs memory").isFalse();
		}
		else {
			retired.add(channel, 0);
		}
		retired.dispose(0, true, new LoopFailures());
		assertThat(disposed).hasValue(1);
	}

	private static OutgoingMessage request(RpcChannel channel, PendingCall call) {
		return channel.prepareRequest(call, new RequestTemplate(1, 1, 0), Long.MAX_VALUE, 0,
				RequestTemplate.NO_METADATA, new MessageSegments());
	}

	private static RegisteredMemory memory() {
		return RegisteredMemory.create(MemoryOptions.DEFAULTS.withMaxBytes(4L << 20).withInitialBytes(1L << 20));
	}

	/** Until there is no memory for it, or often enough. */
	private static void repeat(boolean noHeap, Runnable step) {
		Runnable steps = () -> {
			for (int i = 0; i < STEPS; i++) {
				step.run();
			}
		};
		if (noHeap) {
			assertThat(NoHeap.fails(steps)).as("there was no memory").isTrue();
		}
		else {
			steps.run();
		}
	}

	private interface Step {

		void run(boolean noHeap) throws Exception;

	}

	/** When it is asked whether it is done, there is no memory any more. */
	private static final class GreedyCall implements PendingCall {

		private final boolean greedy;

		private boolean told;

		GreedyCall(boolean greedy) {
			this.greedy = greedy;
		}

		@Override
		public void onStarted(int requestId) {
			throw new IllegalStateException("started");
		}

		@Override
		public int requestId() {
			return 0;
		}

		@Override
		public void onReply(IncomingMessage message) {
			throw new IllegalStateException("a reply");
		}

		@Override
		public void onFailure(CallFailure why, String detail) {
			this.told = true;
		}

		@Override
		public boolean isDone() {
			if (this.greedy) {
				NoHeap.take();
			}
			return this.told;
		}

	}

}
