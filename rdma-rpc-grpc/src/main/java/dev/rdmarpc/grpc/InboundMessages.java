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

import org.jspecify.annotations.Nullable;

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
 * the other; what is to be granted is left to the driver by an atomic number. What gRPC
 * has read it may have left in a queue of its own: so what a part holds counts for the
 * peer until its memory has been given back, see {@link HeldPart}.
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
		HeldPart part = part(memory);
		hand(memory, part, () -> arrived(memory, message, part));
	}

	@Override
	public void onPack(RegisteredBuffer memory, ByteBuffer pack) {
		HeldPart part = part(memory);
		hand(memory, part, () -> arrivedAll(memory, pack, part));
	}

	private @Nullable HeldPart part(RegisteredBuffer memory) {
		int bytes = memory.length();
		try {
			return HeldPart.of(this.receiver, bytes);
		}
		catch (Throwable ex) {
			memory.release();
			this.receiver.consumed(bytes);
			throw ex;
		}
	}

	/** Leaves memory to a task, which releases it. */
	private void hand(RegisteredBuffer memory, @Nullable HeldPart part, Runnable task) {
		try {
			this.tasks.executeAfterTurn(task);
		}
		catch (Throwable ex) {
			memory.release();
			HeldPart.release(part);
			throw ex;
		}
	}

	@Override
	public void onLimit(String detail) {
		this.receiver.close();
		this.tasks.executeAfterTurn(() -> this.consumer.onLimit(detail));
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

	private void arrivedAll(RegisteredBuffer memory, ByteBuffer pack, @Nullable HeldPart part) {
		try {
			PackedMessages.forEach(memory, pack, (own, message) -> arrived(own, message, HeldPart.retain(part)));
		}
		finally {
			HeldPart.release(part);
		}
	}

	private void arrived(RegisteredBuffer memory, ByteBuffer message, @Nullable HeldPart part) {
		int length = message.remaining();
		this.lengths.add(length);
		consumed(this.consumer.onMessage(memory, message, part));
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
		 * @param part what it counts for, to be released with the memory
		 * @return how many of the bytes are not for the reader
		 */
		int onMessage(RegisteredBuffer memory, ByteBuffer message, @Nullable HeldPart part);

		/** There are no more messages. */
		default void onEnd() {
		}

		/** A message could not be received, which ends the stream. */
		default void onLost(String detail) {
		}

		/** The peer has left too much unread, which ends the stream. */
		default void onLimit(String detail) {
			onLost(detail);
		}

	}

}
