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

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import dev.rdmarpc.memory.MemoryOptions;
import dev.rdmarpc.memory.RecordingHook;
import dev.rdmarpc.memory.RegisteredBuffer;
import dev.rdmarpc.memory.RegisteredMemory;

import static org.assertj.core.api.Assertions.assertThat;

/** Peers that together want more memory than there is. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class InboundBudgetTests {

	private static final int FRAME = 8192;

	private static final int PIECE = 8000;

	private static final int LARGEST = 16 << 20;

	private static final long MEMORY = 32L << 20;

	private static final ChannelOptions OPTIONS = ChannelOptions.DEFAULTS.withFrames(FRAME, 128).withCredits(128, 128);

	private final RecordingHandler attacked = new RecordingHandler();

	private final RecordingHandler handler = new RecordingHandler();

	private RpcChannel attacker(LoopFixture fixture) {
		return fixture.server(OPTIONS, this.attacked, ChannelOptions.MAX_CREDITS);
	}

	/** Begins a message and sends so much of it. */
	private static void send(LoopFixture fixture, RpcChannel channel, int id, int messageBytes, int bytes) {
		int first = Math.min(PIECE, bytes);
		fixture.deliver(channel, Frames.request(0, id, 5, 1, messageBytes, new byte[first]));
		for (int at = first; at < bytes; at += PIECE) {
			int piece = Math.min(PIECE, bytes - at);
			fixture.deliver(channel, Frames.continuation(0, id, messageBytes, at, new byte[piece]));
		}
	}

	@Test
	void whoeverHoldsTheMostGivesToOthers() throws Exception {
		try (LoopFixture fixture = new LoopFixture(FRAME, 4096, MEMORY)) {
			fixture.drive(() -> {
				List<RpcChannel> attackers = new ArrayList<>();
				for (int i = 0; i < 3; i++) {
					RpcChannel attacker = attacker(fixture);
					attackers.add(attacker);
					for (int id = 0; id < 4; id++) {
						send(fixture, attacker, id, LARGEST, 2 << 20);
						assertThat(fixture.memory.metrics().allocatedBytes()).isLessThanOrEqualTo(MEMORY / 8 * 7);
					}
				}
				RpcChannel good = fixture.server(OPTIONS, this.handler, ChannelOptions.MAX_CREDITS);
				for (int id = 0; id < 50; id++) {
					send(fixture, good, id, 40_000, 40_000);
				}
				assertThat(this.handler.events).hasSize(51).noneMatch((event) -> event.startsWith("unreadable"));
				for (int id = 0; id < 4; id++) {
					send(fixture, good, 100 + id, 4 << 20, 1 << 20);
				}
				long fair = MEMORY / 8 * 7 / 4;
				assertThat(good.receiver().heldBytes()).as("what the good one needs").isGreaterThanOrEqualTo(4 << 20);
				assertThat(attackers).allMatch(RpcChannel::isOpen)
					.allMatch((attacker) -> attacker.receiver().heldBytes() <= 2 * fair);
			});
		}
	}

	@Test
	void theLastEighthIsLeftToEverythingElse() throws Exception {
		try (LoopFixture fixture = new LoopFixture(FRAME, 4096, MEMORY)) {
			fixture.drive(() -> {
				RpcChannel attacker = attacker(fixture);
				for (int id = 0; id < 30; id++) {
					send(fixture, attacker, id, LARGEST, 1 << 20);
				}
				assertThat(attacker.isOpen()).isTrue();
				RegisteredBuffer other = fixture.memory.tryAllocate((int) (MEMORY / 16));
				assertThat(other).isNotNull();
				other.release();
			});
		}
	}

	@Test
	void peerThatAnswersNoReadsIsGivenUpOnlyWhenMemoryIsShort() throws Exception {
		try (LoopFixture fixture = new LoopFixture(FRAME, 4096, MEMORY)) {
			fixture.drive(() -> {
				RpcChannel small = attacker(fixture);
				fixture.deliver(small, Frames.describedRequest(1, 5, 1000));
				RpcChannel large = attacker(fixture);
				fixture.deliver(large, Frames.describedRequest(1, 5, LARGEST));
				long later = fixture.loop.nowNanos() + 2 * InboundBudget.STALL_NANOS;
				fixture.loop.inbound().tick(later);
				assertThat(this.attacked.events).containsOnly("open");
				RegisteredBuffer rest = fixture.memory
					.tryAllocate((int) (MEMORY / 8 * 7 - fixture.memory.metrics().allocatedBytes()));
				fixture.loop.inbound().tick(fixture.loop.nowNanos());
				assertThat(this.attacked.events).as("it may have had no time").containsOnly("open");
				fixture.loop.inbound().tick(later);
				assertThat(large.state()).isEqualTo(ChannelState.CLOSED);
				assertThat(small.state()).as("holds less").isEqualTo(ChannelState.OPEN);
				assertThat(this.attacked.events)
					.contains("closed: memory is short, and the peer does not answer Reads");
				rest.release();
			});
		}
	}

	/** Because a device, or the process, has less than the pool might have. */
	@Test
	void memoryThatCannotGrowIsShort() {
		RecordingHook device = new RecordingHook();
		try (RegisteredMemory memory = RegisteredMemory.create(MemoryOptions.DEFAULTS)) {
			memory.attach(device);
			device.refuse();
			InboundBudget budget = new InboundBudget(memory, InboundBudget.MAX_MESSAGES);
			FakeHolder greedy = new FakeHolder(budget);
			FakeHolder good = new FakeHolder(budget);
			while (greedy.claims(1 << 20)) {
				budget.tick(1);
			}
			assertThat(greedy.reason).isNull();
			for (int i = 0; i < 6; i++) {
				assertThat(good.claims(1 << 20)).as("of a fair share").isTrue();
			}
			greedy.stalled = true;
			budget.tick(2);
			assertThat(greedy.reason).contains("memory is short");
			greedy.reason = null;
			budget.tick(3);
			assertThat(greedy.reason).as("none was refused since").isNull();
			greedy.shed(Long.MAX_VALUE);
			good.shed(Long.MAX_VALUE);
		}
	}

	@Test
	void peerThatBeginsTooMuchIsGivenUp() throws Exception {
		try (LoopFixture fixture = new LoopFixture(FRAME, 4096, MEMORY)) {
			fixture.drive(() -> {
				RpcChannel few = attacker(fixture);
				RpcChannel many = attacker(fixture);
				for (int id = 0; id < 40; id++) {
					send(fixture, few, id, LARGEST, 1);
				}
				for (int id = 0; id < 60; id++) {
					send(fixture, many, id, LARGEST + 1, 1);
				}
				InboundBudget budget = new InboundBudget(fixture.memory, 100);
				budget.add(few.receiver());
				budget.add(many.receiver());
				budget.tick(fixture.loop.nowNanos());
				assertThat(List.of(few, many)).allMatch(RpcChannel::isOpen);
				send(fixture, few, 40, LARGEST, 1);
				budget.tick(fixture.loop.nowNanos());
				assertThat(few.isOpen()).isTrue();
				assertThat(this.attacked.events)
					.contains("closed: too many messages are unfinished, and the peer has begun 60");
			});
		}
	}

	/** Holds what it has claimed. */
	private static final class FakeHolder implements InboundBudget.Holder {

		private final InboundBudget budget;

		private final ArrayDeque<RegisteredBuffer> held = new ArrayDeque<>();

		private boolean stalled;

		private @Nullable String reason;

		FakeHolder(InboundBudget budget) {
			this.budget = budget;
			budget.add(this);
		}

		boolean claims(int bytes) {
			RegisteredBuffer claimed = this.budget.claim(this, bytes);
			if (claimed != null) {
				this.held.add(claimed);
			}
			return claimed != null;
		}

		@Override
		public long heldBytes() {
			return this.held.stream().mapToLong(RegisteredBuffer::length).sum();
		}

		@Override
		public long droppableBytes() {
			return heldBytes();
		}

		@Override
		public long stalledBytes(long sinceNanos) {
			return this.stalled ? heldBytes() : 0;
		}

		@Override
		public int unfinished() {
			return this.held.size();
		}

		@Override
		public boolean shed(long bytes) {
			long before = heldBytes();
			while (!this.held.isEmpty() && before - heldBytes() < bytes) {
				this.held.remove().release();
			}
			return heldBytes() < before;
		}

		@Override
		public void giveUp(String why) {
			this.reason = why;
		}

	}

}
