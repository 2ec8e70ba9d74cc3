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

package dev.rdmarpc.verbs;

import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;

import javax.management.JMException;
import javax.management.ObjectName;

import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;

import dev.rdmarpc.TestEnvironment;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * When memory is free again: not one byte is placed any more once the call has returned
 * that ended its use, however busy the peer is. And that steady traffic makes no garbage.
 */
abstract class AbstractReleaseTests extends AbstractVerbsTests {

	private static final int LENGTH = 4 << 20;

	private static final byte AFTERWARDS = 0x5A;

	AbstractReleaseTests(VerbsFixture fixture) {
		super(fixture);
	}

	/** How the memory at the right comes to be written to. */
	private enum Placement {

		WRITE, SEND, READ

	}

	/** Keeps the right's memory being filled, eight times over. */
	private void fill(ConnectedPair pair, Placement placement, GuardedMemory right, GuardedMemory left) {
		for (int i = 0; i < 8; i++) {
			switch (placement) {
				case WRITE -> pair.left().write(right.remote(), left.all());
				case SEND -> {
					pair.right().receive(right.all());
					pair.left().send(left.all());
				}
				default -> pair.right().read(left.remote(), right.all());
			}
		}
	}

	private void awaitFirstBytes(GuardedMemory memory, GuardedMemory source) {
		this.fixture.await("the first bytes", () -> memory.view().getLong(0) == source.view().getLong(0));
		int more = between(0, 30);
		for (int i = 0; i < more; i++) {
			this.fixture.progress();
		}
	}

	@Test
	void nothingIsPlacedAfterTheQueuePairWasClosed() {
		for (int round = 0; round < TestEnvironment.rounds(18, 6); round++) {
			ConnectedPair pair = this.fixture.connect().greet();
			GuardedMemory right = this.fixture.right().memory(LENGTH, AccessFlag.REMOTE_WRITE);
			GuardedMemory left = this.fixture.left().memory(LENGTH, AccessFlag.REMOTE_READ);
			fill(pair, Placement.values()[round % 3], right, left);
			this.fixture.whilePolled(pair.right().collector(), () -> {
				awaitFirstBytes(right, left);
				pair.right().close();
				right.reset();
				this.fixture.awaitSettled(pair.left());
			});
			right.assertUntouched();
			right.close();
		}
	}

	@Test
	void nothingIsPlacedAfterTheRegionWasDeregistered() {
		Assumptions.assumeTrue(this.fixture.stopsPlacingAtOnce(),
				"the device places the rest of what is just arriving although the region is deregistered");
		for (int round = 0; round < TestEnvironment.rounds(18, 6); round++) {
			ConnectedPair pair = this.fixture.connect().greet();
			GuardedMemory right = this.fixture.right().memory(LENGTH, AccessFlag.REMOTE_WRITE);
			GuardedMemory left = this.fixture.left().memory(LENGTH, AccessFlag.REMOTE_READ);
			fill(pair, Placement.values()[round % 3], right, left);
			this.fixture.whilePolled(pair.right().collector(), () -> {
				awaitFirstBytes(right, left);
				right.close();
				right.reset();
				pair.left().queuePair().disconnect();
				pair.awaitEnd();
			});
			right.assertUntouched();
		}
	}

	@Test
	void nothingIsSentOfARegionThatWasDeregistered() {
		Assumptions.assumeTrue(this.fixture.stopsSendingAtOnce(),
				"the device sends the rest of what it has begun although the region is deregistered");
		for (int round = 0; round < TestEnvironment.rounds(18, 6); round++) {
			ConnectedPair pair = this.fixture.connect().greet();
			GuardedMemory right = this.fixture.right().memory(LENGTH, AccessFlag.REMOTE_WRITE);
			GuardedMemory left = this.fixture.left().memory(LENGTH, AccessFlag.REMOTE_READ);
			fill(pair, Placement.values()[round % 3], right, left);
			this.fixture.whilePolled(pair.left().collector(), () -> {
				awaitFirstBytes(right, left);
				left.close();
				fillWith(left.view(), AFTERWARDS);
				pair.left().queuePair().disconnect();
				pair.awaitEnd();
			});
			assertThat(longestRun(right.view(), AFTERWARDS))
				.as("bytes that were written after the source's registration had ended, and have arrived")
				.isLessThan(64);
		}
	}

	private static void fillWith(ByteBuffer bytes, byte value) {
		while (bytes.hasRemaining()) {
			bytes.put(value);
		}
	}

	private static int longestRun(ByteBuffer bytes, byte value) {
		int longest = 0;
		int run = 0;
		while (bytes.hasRemaining()) {
			run = (bytes.get() == value) ? run + 1 : 0;
			longest = Math.max(longest, run);
		}
		return longest;
	}

	@Test
	void aBufferMayBeFilledAgainOnceItsRequestHasCompleted() {
		ConnectedPair pair = this.fixture.connect();
		GuardedMemory source = this.fixture.left().memory(300_000);
		GuardedMemory sink = this.fixture.right().memory(300_000, AccessFlag.REMOTE_WRITE);
		ByteBuffer nothing = ByteBuffer.allocate(300_000);
		for (int round = 0; round < TestEnvironment.rounds(100, 20); round++) {
			int length = between(1, (round % 3 == 0) ? 300_000 : 1000);
			ByteBuffer expected = ByteBuffer.allocate(length).put(source.reset().view(0, length)).flip();
			long received;
			if (round % 2 == 0) {
				received = pair.right().receive();
				long write = pair.left().write(sink.segment(0, length).remote(), source.segment(0, length));
				pair.awaitSuccess(pair.left(), write);
				source.view().put(nothing.clear());
				pair.left().send();
			}
			else {
				received = pair.right().receive(sink.segment(0, length));
				pair.awaitSuccess(pair.left(), pair.left().send(source.segment(0, length)));
				source.view().put(nothing.clear());
			}
			pair.awaitSuccess(pair.right(), received);
			sink.assertHolds(0, expected);
			sink.view().put(nothing.clear());
		}
		this.fixture.await("all sends", () -> pair.left().sends().due() == 0);
	}

	@Test
	void steadyTrafficAllocatesNothing() throws JMException {
		Assumptions.assumeTrue(this.fixture.movesWithoutGarbage(), "moves messages in pieces");
		ConnectedPair pair = this.fixture.connect();
		pair.left().collector().handsOff(true);
		pair.right().collector().handsOff(true);
		PingPong pingPong = new PingPong(pair, this.fixture.left().memory(4096),
				this.fixture.right().memory(4096, AccessFlag.REMOTE_READ, AccessFlag.REMOTE_WRITE));
		pingPong.run(1);
		if (this.fixture.left().device().readSinks() > 0) {
			pingPong.withoutReads();
		}
		int rounds = TestEnvironment.rounds(3000, 300);
		long least = Long.MAX_VALUE;
		for (int window = 0; window < 12 && least > 0; window++) {
			long asked = allocatedBytes();
			long before = allocatedBytes();
			pingPong.run(rounds);
			long more = allocatedBytes() - before - (before - asked);
			least = Math.min(least, Math.max(0, more) / rounds);
		}
		assertThat(least)
			.as("bytes allocated per round of a Write, a Read (if it costs no registration) and a Send each way")
			.isZero();
		pair.left().collector().handsOff(false);
		pair.right().collector().handsOff(false);
	}

	/** What this thread has ever allocated; the question itself costs something too. */
	private static long allocatedBytes() throws JMException {
		return (long) ManagementFactory.getPlatformMBeanServer()
			.invoke(new ObjectName(ManagementFactory.THREAD_MXBEAN_NAME), "getThreadAllocatedBytes",
					new Object[] { Thread.currentThread().getId() }, new String[] { "long" });
	}

	/** One Write, one Read and a Send each way per round, without any accounts. */
	private static final class PingPong {

		private final QueuePair left;

		private final QueuePair right;

		private final CompletionQueue leftQueue;

		private final CompletionQueue rightQueue;

		private final MemoryRegion leftMemory;

		private final MemoryRegion rightMemory;

		private final WorkRequest request = new WorkRequest(2);

		private boolean reads = true;

		private final WorkCompletion[] batch = { new WorkCompletion(), new WorkCompletion() };

		PingPong(ConnectedPair pair, GuardedMemory leftMemory, GuardedMemory rightMemory) {
			this.left = pair.left().queuePair();
			this.right = pair.right().queuePair();
			this.leftQueue = pair.left().collector().queue();
			this.rightQueue = pair.right().collector().queue();
			this.leftMemory = leftMemory.region();
			this.rightMemory = rightMemory.region();
		}

		void withoutReads() {
			this.reads = false;
		}

		void run(int rounds) {
			for (int i = 0; i < rounds; i++) {
				long there = this.rightMemory.remoteAddress();
				int key = this.rightMemory.remoteKey();
				this.left.postReceive(this.request.receive(1).addSegment(this.leftMemory, 0, 64));
				this.right.postReceive(this.request.receive(2).addSegment(this.rightMemory, 0, 64));
				this.left.postSend(this.request.write(3, there + 64, key).addSegment(this.leftMemory, 64, 2000));
				if (this.reads) {
					this.left.postSend(this.request.read(4, there + 64, key).addSegment(this.leftMemory, 2100, 1900));
				}
				this.left.postSend(
						this.request.send(5).addSegment(this.leftMemory, 0, 16).addSegment(this.leftMemory, 100, 48));
				this.left.ringDoorbell();
				collect(this.reads ? 3 : 2, 1);
				this.right.postSend(this.request.send(6).addSegment(this.rightMemory, 0, 64));
				this.right.ringDoorbell();
				collect(1, 1);
			}
		}

		private void collect(int fromLeft, int fromRight) {
			int leftToGo = fromLeft;
			int rightToGo = fromRight;
			long startNanos = System.nanoTime();
			while (leftToGo > 0 || rightToGo > 0) {
				leftToGo -= take(this.leftQueue);
				rightToGo -= take(this.rightQueue);
				if (System.nanoTime() - startNanos > VerbsFixture.DEADLINE.toNanos()) {
					throw new AssertionError("hung with " + leftToGo + " and " + rightToGo + " to go");
				}
			}
		}

		private int take(CompletionQueue queue) {
			int count = queue.poll(this.batch);
			for (int i = 0; i < count; i++) {
				if (!this.batch[i].isSuccess()) {
					throw new AssertionError(this.batch[i]);
				}
			}
			return count;
		}

	}

}
