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
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;

import dev.rdmarpc.codec.ArrivingBytes;
import dev.rdmarpc.codec.HeapBudget;
import dev.rdmarpc.memory.RegisteredBuffer;
import dev.rdmarpc.memory.RegisteredMemory;

import static org.assertj.core.api.Assertions.assertThat;

/** Messages to be Read, and a peer that serves their Reads when a test says so. */
abstract class InboundTransferFixture {

	static final int MESSAGE = 4096;

	static final int LOW = 0;

	static final int HIGH = 2;

	static final long PATIENCE = 100;

	final List<Integer> ended = new ArrayList<>();

	final List<Integer> refused = new ArrayList<>();

	final List<Integer> told = new ArrayList<>();

	final List<byte[]> transferred = new ArrayList<>();

	final List<Integer> begun = new ArrayList<>();

	final HeapBudget heap = new HeapBudget(64 << 20);

	RegisteredMemory memory;

	final InboundTransfers.Receiver receiver = new InboundTransfers.Receiver() {
		@Override
		public RegisteredBuffer claim(int bytes) {
			return InboundTransferFixture.this.memory.tryAllocate(bytes);
		}

		@Override
		public void onShortOfMemory() {
			// the test tries again when it wants to
		}

		@Override
		public void onTransferBegun(InboundTransfer transfer) {
			ByteBuffer arrived = transfer.arrived();
			InboundTransferFixture.this.begun.add(arrived.remaining());
			transfer.head()
				.arriving(ArrivingBytes.of(InboundTransferFixture.this.heap, arrived.position(),
						transfer.head().messageBytes()));
		}

		@Override
		public void onTransferred(InboundTransfer transfer) {
			InboundTransferFixture.this.ended.add(transfer.requestId());
			InboundTransferFixture.this.transferred.add(contentOf(transfer.complete()));
			transfer.release();
		}

		@Override
		public void onTransferProgress(InboundTransfer transfer) {
			InboundTransferFixture.this.told.add(transfer.readBytes());
		}

		@Override
		public void onTransferWithoutMemory(InboundTransfer transfer) {
			InboundTransferFixture.this.refused.add(transfer.requestId());
		}

		@Override
		public void onTransferAbandoned(InboundTransfer transfer) {
			// nobody waits for it
		}
	};

	List<RegisteredBuffer> takeAll() {
		List<RegisteredBuffer> all = new ArrayList<>();
		RegisteredBuffer next = this.memory.tryAllocate(MESSAGE);
		while (next != null) {
			all.add(next);
			next = this.memory.tryAllocate(MESSAGE);
		}
		return all;
	}

	/**
	 * Runs the body of a test as driver of a loop.
	 * @param mostMessages how many the peer may have read at a time
	 */
	void reading(int mostMessages, Body body) throws Exception {
		reading(mostMessages, ChannelOptions.DEFAULTS, body);
	}

	/** The same with little memory for what is being read. */
	void readingInto(long maxBytes, Body body) throws Exception {
		reading(8, ChannelOptions.DEFAULTS.withUnfinished(maxBytes), body);
	}

	void reading(int mostMessages, ChannelOptions options, Body body) throws Exception {
		try (LoopFixture fixture = new LoopFixture()) {
			fixture.drive(() -> {
				this.memory = fixture.memory;
				InboundTransfers transfers = new InboundTransfers(this.receiver, fixture.loop.resources(),
						fixture.loop.metrics(), options, mostMessages);
				RegisteredBuffer buffer = fixture.memory.tryAllocate(MESSAGE);
				body.run(fixture, transfers, new FakeQueuePair(null, fixture.completions), buffer);
				transfers.close(Integer.MAX_VALUE);
				transfers.dropPosted();
				buffer.release();
			});
		}
	}

	/** Has a message delivered, after which longer ones are read at once. */
	void earnTrust(InboundTransfers transfers, FakeQueuePair pair, RegisteredBuffer buffer, int bytes) {
		begin(transfers, buffer, 100, bytes, 0);
		while (transfers.all().size() > 0) {
			transfers.post(pair);
			while (pair.reads > 0) {
				pair.reads--;
				transfers.completed(true, 0, 0);
			}
		}
		pair.readBytes.clear();
		this.ended.clear();
	}

	static void complete(InboundTransfers transfers, FakeQueuePair pair) {
		if (pair.reads > 0) {
			pair.reads--;
			transfers.completed(true, pair.readBytes.remove(), 0);
		}
	}

	/** Lets Reads complete, and returns which messages have ended in which order. */
	List<Integer> completeAll(InboundTransfers transfers, FakeQueuePair pair, int mostReads) {
		for (int i = 0; i < mostReads && transfers.all().size() > 0; i++) {
			complete(transfers, pair);
			transfers.post(pair);
		}
		assertThat(transfers.all().size()).as("messages that are left").isZero();
		return this.ended;
	}

	static byte[] contentOf(IncomingMessage message) {
		byte[] content = new byte[message.messageBytes()];
		message.message().get(content);
		return content;
	}

	static void begin(InboundTransfers transfers, RegisteredBuffer buffer, int requestId, long nowNanos) {
		begin(transfers, buffer, requestId, MESSAGE, nowNanos);
	}

	static void begin(InboundTransfers transfers, RegisteredBuffer buffer, int requestId, int bytes, long nowNanos) {
		begin(transfers, buffer, requestId, bytes, RequestTemplate.NORMAL_PRIORITY, nowNanos);
	}

	static void begin(InboundTransfers transfers, RegisteredBuffer buffer, int requestId, int bytes, int priority,
			long nowNanos) {
		assertThat(transfers.begin(message(buffer, requestId, bytes, priority), frame(requestId, bytes, priority), true,
				nowNanos))
			.isTrue();
	}

	static void beginDue(InboundTransfers transfers, RegisteredBuffer buffer, int requestId, int bytes, long due) {
		IncomingMessage message = message(buffer, requestId, bytes, LOW);
		message.due(due);
		assertThat(transfers.begin(message, frame(requestId, bytes, LOW), true, 0)).isTrue();
	}

	static IncomingMessage message(RegisteredBuffer buffer, int requestId, int bytes, int priority) {
		IncomingMessage message = new IncomingMessage();
		message.wrap(buffer, frame(requestId, bytes, priority), 0);
		return message;
	}

	static ByteBuffer frame(int requestId, int bytes, int priority) {
		ByteBuffer windows = ByteBuffer.allocate(WindowListFlyweight.length(1)).order(ByteOrder.LITTLE_ENDIAN);
		WindowListFlyweight.putCount(windows, 0, 1);
		WindowListFlyweight.putWindow(windows, 0, 0, FakeQueuePair.WINDOW, 7, bytes);
		ByteBuffer frame = ByteBuffer.wrap(Frames.request(0, requestId, 5, 1, bytes, windows.array()))
			.order(ByteOrder.LITTLE_ENDIAN);
		return frame.put(FrameFlyweight.PRIORITY_OFFSET, (byte) priority);
	}

	/** Of a test. */
	interface Body {

		void run(LoopFixture fixture, InboundTransfers transfers, FakeQueuePair pair, RegisteredBuffer buffer)
				throws Throwable;

	}

}
