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

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Numbered messages from one endpoint to the other that never overrun the receives
 * posted. Each is checked when it is delivered: its turn, its length, its bytes. Slots of
 * the sender are used again only when the Send that named them is known to be done.
 *
 * <p>
 * Of the test thread; completions may be collected by another.
 */
final class MessageStream {

	private final VerbsFixture fixture;

	private final VerbsEndpoint sender;

	private final VerbsEndpoint receiver;

	private final int slotBytes;

	private final int slots;

	private final GuardedMemory source;

	private final GuardedMemory sink;

	private final List<Integer> lengths = new ArrayList<>();

	private final Map<Long, Integer> numbersById = new HashMap<>();

	private final int receivesBefore;

	private int sendsSeen;

	private int doneThrough = -1;

	private int delivered;

	private int unsignaledRun;

	private Consumer<ByteBuffer> onDelivery = (message) -> {
	};

	/**
	 * Posts the receives of a new stream. The receiver must have none posted.
	 * @param slotBytes the longest message
	 * @param slots messages in flight
	 */
	MessageStream(ConnectedPair pair, int slotBytes, int slots) {
		this.fixture = pair.fixture();
		this.sender = pair.left();
		this.receiver = pair.right();
		this.slotBytes = slotBytes;
		this.slots = slots;
		this.source = this.sender.side().memory(slotBytes * slots);
		this.sink = this.receiver.side().memory(slotBytes * slots);
		this.receivesBefore = this.receiver.receives().completedCount();
		this.sendsSeen = this.sender.sends().completedCount();
		for (int i = 0; i < slots; i++) {
			this.receiver.receive(this.sink.segment(i * slotBytes, slotBytes));
		}
	}

	MessageStream onDelivery(Consumer<ByteBuffer> check) {
		this.onDelivery = check;
		return this;
	}

	int sent() {
		return this.lengths.size();
	}

	/** Whether the next message has a receive, a slot and a place in the send queue. */
	boolean canSend() {
		advance();
		int oldest = sent() - this.slots;
		return this.delivered > oldest && this.doneThrough >= oldest && hasRoom();
	}

	/** Whether the send queue takes two more requests. */
	boolean hasRoom() {
		return this.sender.sends().outstanding() + 2 <= this.sender.sendDepth();
	}

	/** Sends a message of a number, then the words, then whatever lies in the slot. */
	void send(int length, boolean unsignaled, int... words) {
		this.fixture.await("a receive and room for a Send", this::canSend);
		int number = sent();
		int offset = (number % this.slots) * this.slotBytes;
		ByteBuffer message = this.source.view(offset, length);
		message.putLong(0, number);
		for (int i = 0; i < words.length; i++) {
			message.putInt(Long.BYTES + i * Integer.BYTES, words[i]);
		}
		WorkRequest request = this.sender.request().send(this.sender.nextId());
		this.unsignaledRun = unsignaled ? this.unsignaledRun + 1 : 0;
		if (unsignaled && this.unsignaledRun < this.slots / 2) {
			request.unsignaled();
		}
		this.lengths.add(length);
		this.numbersById.put(request.id(), number);
		this.sender.post(request, this.source.segment(offset, length));
		this.sender.queuePair().ringDoorbell();
	}

	private void advance() {
		while (this.sender.sends().completedCount() > this.sendsSeen) {
			Completed done = this.sender.sends().completedAt(this.sendsSeen++);
			assertThat(done.status()).isEqualTo(WorkStatus.SUCCESS);
			this.doneThrough = Math.max(this.doneThrough, this.numbersById.getOrDefault(done.id(), -1));
		}
		while (this.receiver.receives().completedCount() > this.receivesBefore + this.delivered) {
			check(this.receiver.receives().completedAt(this.receivesBefore + this.delivered));
			int slot = this.delivered % this.slots;
			this.delivered++;
			this.receiver.receive(this.sink.segment(slot * this.slotBytes, this.slotBytes));
		}
	}

	private void check(Completed received) {
		assertThat(received.status()).isEqualTo(WorkStatus.SUCCESS);
		int length = this.lengths.get(this.delivered);
		int offset = (this.delivered % this.slots) * this.slotBytes;
		ByteBuffer message = this.sink.view(offset, length);
		assertThat(message.getLong(0)).as("number of the message delivered").isEqualTo(this.delivered);
		assertThat(received.byteLength()).isEqualTo(length);
		this.sink.assertHolds(offset, this.source, offset, length);
		this.onDelivery.accept(message);
	}

	/**
	 * Waits until everything sent has been delivered and everything signaled completed.
	 */
	void finish() {
		this.fixture.await("delivery of everything sent", () -> {
			advance();
			return this.delivered == sent() && this.sender.sends().due() == 0;
		});
	}

}
