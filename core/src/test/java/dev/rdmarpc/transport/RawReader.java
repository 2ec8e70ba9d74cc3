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

import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayDeque;
import java.util.EnumSet;
import java.util.Queue;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.verbs.AccessFlag;
import dev.rdmarpc.verbs.CompletionQueue;
import dev.rdmarpc.verbs.ConnectOptions;
import dev.rdmarpc.verbs.MemoryRegion;
import dev.rdmarpc.verbs.ProtectionDomain;
import dev.rdmarpc.verbs.QueuePair;
import dev.rdmarpc.verbs.QueuePairListener;
import dev.rdmarpc.verbs.QueuePairOptions;
import dev.rdmarpc.verbs.VerbsDevice;
import dev.rdmarpc.verbs.WorkCompletion;
import dev.rdmarpc.verbs.WorkOpcode;
import dev.rdmarpc.verbs.WorkRequest;
import dev.rdmarpc.verbs.WorkStatus;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A client written against the bare verbs, which keeps to the protocol only as far as its
 * user likes. Used by one thread.
 */
final class RawReader implements AutoCloseable {

	private static final int FRAME_BYTES = 8192;

	private static final int RECEIVES = 64;

	private static final int SINK_BYTES = 1 << 20;

	private static final byte UNTOUCHED = 0x5A;

	private final ProtectionDomain domain;

	private final CompletionQueue completions;

	private final QueuePair queuePair;

	private final MemoryRegion frames;

	private final MemoryRegion sink;

	private final WorkCompletion[] batch = { new WorkCompletion() };

	private final WorkRequest request = new WorkRequest(1);

	private final Queue<ByteBuffer> received = new ArrayDeque<>();

	private @Nullable WorkStatus readStatus;

	/** Credits to be granted; the handshake used none. */
	private int owed = -1;

	/** Connects and shakes hands. */
	RawReader(VerbsDevice device, InetSocketAddress server) {
		this.domain = device.allocateProtectionDomain();
		this.completions = device.createCompletionQueue(4 * RECEIVES);
		this.queuePair = this.domain.createQueuePair(
				new QueuePairOptions(this.completions, null, RECEIVES, RECEIVES, 1, 1, QueuePairListener.NONE));
		this.frames = this.domain.registerMemory(ByteBuffer.allocateDirect((RECEIVES + 1) * FRAME_BYTES),
				EnumSet.of(AccessFlag.LOCAL_WRITE));
		this.sink = this.domain.registerMemory(ByteBuffer.allocateDirect(SINK_BYTES),
				EnumSet.of(AccessFlag.LOCAL_WRITE));
		for (int i = 0; i < RECEIVES; i++) {
			this.request.receive(i).addSegment(this.frames, i * FRAME_BYTES, FRAME_BYTES);
			this.queuePair.postReceive(this.request);
		}
		device.connect(this.queuePair, server, ConnectOptions.DEFAULTS).join();
		ByteBuffer hello = frame();
		FrameFlyweight.putHeader(hello, 0, FrameType.HELLO, 0, 0, 0);
		int length = HelloFlyweight.put(hello, HelloFlyweight.VERSION, HelloFlyweight.VERSION,
				ChannelOptions.DEFAULTS.withFrames(FRAME_BYTES, 32), 0, "");
		HelloFlyweight.putFeatures(hello, HelloFlyweight.FEATURE_READS);
		send(hello, length);
		assertThat(FrameFlyweight.type(next())).isEqualTo(FrameType.HELLO_REPLY);
	}

	private ByteBuffer frame() {
		return this.frames.memory().slice(RECEIVES * FRAME_BYTES, FRAME_BYTES).order(ByteOrder.LITTLE_ENDIAN);
	}

	private void send(ByteBuffer frame, int length) {
		this.request.send(0).addSegment(this.frames, RECEIVES * FRAME_BYTES, length);
		this.queuePair.postSend(this.request);
		this.queuePair.ringDoorbell();
		assertThat(frame.capacity()).isGreaterThanOrEqualTo(length);
	}

	/** Sends a request of no arguments. */
	void call(int requestId) {
		ByteBuffer frame = frame();
		FrameFlyweight.putHeader(frame, 0, FrameType.REQUEST, requestId, 0, 0);
		FrameFlyweight.putRequestFields(frame, 0, 1, 0, 1, 0, 0);
		send(frame, FrameFlyweight.REQUEST_HEADER_LENGTH);
	}

	/** Sends a request whose message the server is to Read from here. */
	void describe(int requestId, int messageBytes, long address, int key, int length) {
		ByteBuffer frame = frame();
		FrameFlyweight.putHeader(frame, 0, FrameType.REQUEST, requestId, messageBytes, 0);
		FrameFlyweight.putFlags(frame, 0, FrameFlyweight.FLAG_READ);
		FrameFlyweight.putRequestFields(frame, 0, 1, 0, 1, 0, 0);
		WindowListFlyweight.putCount(frame, FrameFlyweight.REQUEST_HEADER_LENGTH, 1);
		WindowListFlyweight.putWindow(frame, FrameFlyweight.REQUEST_HEADER_LENGTH, 0, address, key, length);
		send(frame, FrameFlyweight.REQUEST_HEADER_LENGTH + WindowListFlyweight.length(1));
	}

	/** Sends a frame that is only a header. */
	void control(int type, int subject) {
		control(type, subject, 0);
	}

	/** The same with a number in the place of the offset. */
	void control(int type, int subject, int offset) {
		ByteBuffer frame = frame();
		FrameFlyweight.putHeader(frame, 0, type, subject, 0, offset);
		frame.putShort(FrameFlyweight.CREDITS_OFFSET, (short) this.owed);
		this.owed = 0;
		send(frame, FrameFlyweight.HEADER_LENGTH);
	}

	/** The next frame, a copy, or {@code null} if the connection ends instead. */
	@Nullable ByteBuffer nextOrNull() {
		await(() -> !this.received.isEmpty() || this.queuePair.fault() != null);
		return this.received.poll();
	}

	/** The next frame, a copy. */
	ByteBuffer next() {
		ByteBuffer frame = nextOrNull();
		assertThat(frame).as("fault %s", this.queuePair.fault()).isNotNull();
		return frame;
	}

	/** Reads from the server, into memory of which every byte is known. */
	WorkStatus read(long address, int key, int length) {
		for (int i = 0; i < length; i++) {
			this.sink.memory().put(i, UNTOUCHED);
		}
		this.readStatus = null;
		this.request.read(1, address, key).addSegment(this.sink, 0, length);
		this.queuePair.postSend(this.request);
		this.queuePair.ringDoorbell();
		await(() -> this.readStatus != null);
		return this.readStatus;
	}

	/** What the last Read brought. */
	ByteBuffer read() {
		return this.sink.memory().duplicate().order(ByteOrder.LITTLE_ENDIAN);
	}

	/** Whether the last Read, of that length, left all memory as it was. */
	boolean broughtNothing(int length) {
		for (int i = 0; i < length; i++) {
			if (this.sink.memory().get(i) != UNTOUCHED) {
				return false;
			}
		}
		return true;
	}

	/** Whether the connection has ended, waiting for it. */
	boolean isEnded() {
		await(() -> this.queuePair.fault() != null);
		return true;
	}

	private void await(BooleanSupplier condition) {
		long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
		while (!condition.getAsBoolean()) {
			assertThat(System.nanoTime() - deadline).as("in time").isNegative();
			if (this.completions.poll(this.batch) > 0) {
				completed(this.batch[0]);
			}
		}
	}

	private void completed(WorkCompletion completion) {
		if (completion.opcode() == WorkOpcode.READ) {
			this.readStatus = completion.status();
		}
		else if (completion.opcode() == WorkOpcode.RECEIVE && completion.isSuccess()) {
			this.owed++;
			int slot = (int) completion.id();
			int length = (int) completion.byteLength();
			this.received.add(ByteBuffer.allocate(length)
				.order(ByteOrder.LITTLE_ENDIAN)
				.put(0, this.frames.memory(), slot * FRAME_BYTES, length));
			this.request.receive(slot).addSegment(this.frames, slot * FRAME_BYTES, FRAME_BYTES);
			this.queuePair.postReceive(this.request);
		}
	}

	@Override
	public void close() {
		this.queuePair.close();
		this.completions.close();
		this.domain.close();
	}

}
