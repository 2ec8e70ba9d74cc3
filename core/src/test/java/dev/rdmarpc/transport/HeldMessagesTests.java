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
import java.util.ArrayList;
import java.util.List;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import dev.rdmarpc.memory.RegisteredBuffer;

import static org.assertj.core.api.Assertions.assertThat;

/** What the messages of a caller's stream count for, frame by frame. */
class HeldMessagesTests extends AbstractRequestStreamTests {

	private static final long LIMIT = 1000;

	private final PeerShares shares = new PeerShares(new PrincipalLimits(9, 9, LIMIT), LIMIT);

	private final Holder holder = new Holder();

	/** Whose limit it is. */
	private PeerShare share() {
		PeerShare share = this.shares.tryConnect("a");
		assertThat(share).isNotNull();
		return share;
	}

	private void holding(Check check) throws Exception {
		PeerShare share = share();
		asServer((fixture, channel, other) -> {
			channel.sender().countFor(share);
			StreamReceiver receiver = channel.streams().requestReceiver(ID, this.holder);
			this.handler.receiver = receiver;
			this.holder.receiver = receiver;
			receiver.grant(9, 0);
			fixture.turn();
			check.run(fixture, channel, receiver, share);
			this.holder.consumeAll(receiver);
			assertThat(share.requestBytes()).isZero();
		});
		this.shares.disconnected(share);
		assertThat(this.shares.size()).isZero();
	}

	@Test
	void messageCountsFromWhenItIsCompleteUntilItIsConsumed() throws Exception {
		holding((fixture, channel, receiver, share) -> {
			fixture.deliver(channel, Frames.message(ID, 900, new byte[500]));
			assertThat(share.requestBytes()).as("half a message").isZero();
			fixture.deliver(channel, Frames.continuation(0, ID, 900, 500, new byte[400]));
			assertThat(share.requestBytes()).isEqualTo(900);
			fixture.deliver(channel, Frames.message(ID, 8, new byte[8]));
			assertThat(share.requestBytes()).isEqualTo(908);
			receiver.close();
			assertThat(share.requestBytes()).as("the end gives nothing back").isEqualTo(908);
			this.holder.consumeAll(receiver);
			assertThat(share.requestBytes()).isZero();
		});
	}

	@Test
	void messagesOfOneFrameCountOnce() throws Exception {
		holding((fixture, channel, receiver, share) -> {
			fixture.deliver(channel, Frames.pack(ID, new byte[8], new byte[80], new byte[8]));
			assertThat(share.requestBytes()).isBetween(96L, LIMIT);
			assertThat(this.holder.memory).hasSize(1);
		});
	}

	@Test
	void messageBeyondTheLimitEndsTheStreamAndNothingElse() throws Exception {
		holding((fixture, channel, receiver, share) -> {
			fixture.deliver(channel, Frames.message(ID, 600, new byte[600]));
			fixture.deliver(channel, Frames.message(ID, 600, new byte[600]));
			assertThat(this.holder.limits).singleElement()
				.asString()
				.contains("streams of 'a' that have not been consumed", "(limit 1000)");
			assertThat(share.requestBytes()).isEqualTo(600);
			fixture.deliver(channel, Frames.message(ID, 8, new byte[8]));
			assertThat(this.holder.memory).as("told after the end").hasSize(1);
			assertThat(channel.state()).isEqualTo(ChannelState.OPEN);
		});
	}

	@Test
	void theOnlyMessageMayBeAsLargeAsAnyAndSoMayTheNext() throws Exception {
		holding((fixture, channel, receiver, share) -> {
			for (int i = 0; i < 2; i++) {
				fixture.deliver(channel, Frames.message(ID, 3000, new byte[3000]));
				assertThat(share.requestBytes()).isEqualTo(3000);
				this.holder.consumeAll(receiver);
				receiver.grant(0, receiver.cost(3000));
				fixture.turn();
			}
			assertThat(this.holder.limits).isEmpty();
		});
	}

	@Test
	void nothingCountsThatNobodyListensTo() throws Exception {
		holding((fixture, channel, receiver, share) -> {
			receiver.cancel();
			fixture.turn();
			fixture.deliver(channel, Frames.message(ID, 600, new byte[600]));
			assertThat(share.requestBytes()).isZero();
		});
	}

	/** Keeps what it is given. */
	private static final class Holder implements StreamReceiver.Listener {

		final List<RegisteredBuffer> memory = new ArrayList<>();

		final List<String> limits = new ArrayList<>();

		@Nullable StreamReceiver receiver;

		@Override
		public void onMessage(RegisteredBuffer arrived, ByteBuffer message) {
			this.memory.add(arrived);
		}

		@Override
		public void onPack(RegisteredBuffer arrived, ByteBuffer pack) {
			this.memory.add(arrived);
		}

		@Override
		public void onLimit(String detail) {
			this.limits.add(detail);
			assertThat(this.receiver).isNotNull();
			this.receiver.cancel();
		}

		void consumeAll(StreamReceiver receiver) {
			for (RegisteredBuffer held : this.memory) {
				int bytes = held.length();
				held.release();
				receiver.consumed(bytes);
			}
			this.memory.clear();
		}

	}

	private interface Check {

		void run(LoopFixture fixture, RpcChannel channel, StreamReceiver receiver, PeerShare share);

	}

}
