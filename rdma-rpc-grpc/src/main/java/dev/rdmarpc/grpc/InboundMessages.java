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

package dev.rdmarpc.grpc;

import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;

import dev.rdmarpc.memory.RegisteredBuffer;
import dev.rdmarpc.transport.CallFailure;
import dev.rdmarpc.transport.PackedMessages;
import dev.rdmarpc.transport.RpcChannel;
import dev.rdmarpc.transport.StreamReceiver;

/**
 * The messages of one direction of a call on their way from the channel to the
 * {@link MessageReader}: unlimited in number, limited in bytes, which are granted again
 * when it has read them.
 *
 * <p>
 * Implementation notes. {@link #consumed} is called by the tasks of the call, one after
 * the other; what is to be granted is left to the driver by an atomic number.
 */
final class InboundMessages implements StreamReceiver.Listener {

	private final RpcChannel channel;

	private final SerialTasks tasks;

	private final Consumer consumer;

	private final StreamReceiver receiver;

	private final AtomicLong owedBytes = new AtomicLong();

	private final Runnable grant = this::grant;

	/** The lengths of messages that are not consumed, and what they count for. */
	private final Queue<Integer> lengths = new ArrayDeque<>();

	private int consumedBytes;

	private int uncountedBytes;

	/**
	 * Creates the end of a stream.
	 * @param receiver makes the channel's part of it
	 */
	InboundMessages(RpcChannel channel, SerialTasks tasks, Consumer consumer,
			Function<StreamReceiver.Listener, StreamReceiver> receiver) {
		this.channel = channel;
		this.tasks = tasks;
		this.consumer = consumer;
		this.receiver = receiver.apply(this);
	}

	StreamReceiver receiver() {
		return this.receiver;
	}

	@Override
	public void onMessage(RegisteredBuffer memory, ByteBuffer message) {
		hand(memory, () -> arrived(memory, message));
	}

	@Override
	public void onPack(RegisteredBuffer memory, ByteBuffer pack) {
		hand(memory, () -> PackedMessages.forEach(memory, pack, this::arrived));
	}

	/** Leaves memory to a task, which releases it. */
	private void hand(RegisteredBuffer memory, Runnable task) {
		try {
			this.tasks.executeAfterTurn(task);
		}
		catch (Throwable ex) {
			memory.release();
			throw ex;
		}
	}

	@Override
	public void onEnd() {
		this.tasks.executeAfterTurn(this.consumer::onEnd);
	}

	@Override
	public void onLost(CallFailure why, String detail) {
		this.tasks.executeAfterTurn(() -> this.consumer.onLost(detail));
	}

	/** The reader gets bytes that came otherwise. */
	void uncounted(int bytes) {
		this.uncountedBytes += bytes;
	}

	private void arrived(RegisteredBuffer memory, ByteBuffer message) {
		int length = message.remaining();
		this.lengths.add(length);
		consumed(this.consumer.onMessage(memory, message));
	}

	/** The reader has read bytes, or there were some not for it. */
	void consumed(int bytes) {
		int others = Math.min(bytes, this.uncountedBytes);
		this.uncountedBytes -= others;
		this.consumedBytes += bytes - others;
		long cost = 0;
		for (Integer next = this.lengths.peek(); next != null
				&& next <= this.consumedBytes; next = this.lengths.peek()) {
			this.lengths.remove();
			this.consumedBytes -= next;
			cost += this.receiver.cost(next);
		}
		if (cost > 0 && this.owedBytes.getAndAdd(cost) == 0) {
			this.channel.loop().execute(this.grant);
		}
	}

	private void grant() {
		this.receiver.grant(0, this.owedBytes.getAndSet(0));
	}

	/** Gets the messages; tasks of the call. */
	interface Consumer {

		/**
		 * A message has arrived, in order.
		 * @param memory where it lies; takes ownership
		 * @param message its bytes, position to limit; belongs to whom the memory belongs
		 * to, which may have given it back when this returns
		 * @return how many of the bytes are not for the reader
		 */
		int onMessage(RegisteredBuffer memory, ByteBuffer message);

		/** There are no more messages. */
		default void onEnd() {
		}

		/** A message could not be received, which ends the stream. */
		default void onLost(String detail) {
		}

	}

}
