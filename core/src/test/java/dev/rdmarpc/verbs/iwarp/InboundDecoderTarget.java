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

package dev.rdmarpc.verbs.iwarp;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.EnumSet;

import dev.rdmarpc.verbs.AccessFlag;
import dev.rdmarpc.verbs.MemoryRegion;
import dev.rdmarpc.verbs.QueuePairListener;
import dev.rdmarpc.verbs.QueuePairOptions;
import dev.rdmarpc.verbs.QueuePairState;
import dev.rdmarpc.verbs.VerbsDevice;
import dev.rdmarpc.verbs.WorkCompletion;
import dev.rdmarpc.verbs.WorkOpcode;
import dev.rdmarpc.verbs.WorkRequest;
import dev.rdmarpc.verbs.iwarp.rdmap.ConnectionParameters;
import dev.rdmarpc.verbs.iwarp.wire.Fpdu;
import dev.rdmarpc.verbs.iwarp.wire.FpduFlyweight;
import dev.rdmarpc.verbs.iwarp.wire.ReadyToReceive;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Turns arbitrary bytes into an inbound stream, has a queue pair digest it, and checks
 * that it ends in good order. The bytes decide everything: the length of each read, and a
 * mixture of frames that are nearly right and bytes that are not frames at all, so that a
 * fuzzer reaches the states behind the checks of length and CRC.
 */
final class InboundDecoderTarget implements AutoCloseable {

	private static final int REGION_BYTES = 4096;

	private static final int GUARD_BYTES = 256;

	private static final byte GUARD = 0x5A;

	private static final int RECEIVES = 4;

	private static final int READS = 2;

	private final VerbsDevice device = new IwarpProvider(IwarpOptions.DEFAULTS.withCopyThresholds(64, 128))
		.openDevice(null);

	private final IwarpProtectionDomain domain = (IwarpProtectionDomain) this.device.allocateProtectionDomain();

	private final IwarpCompletionQueue completionQueue = (IwarpCompletionQueue) this.device.createCompletionQueue(64);

	private final ByteBuffer open = guarded();

	private final ByteBuffer readOnly = guarded();

	private final ByteBuffer received = guarded();

	private final WorkCompletion[] polled = { new WorkCompletion(), new WorkCompletion() };

	private static ByteBuffer guarded() {
		ByteBuffer memory = ByteBuffer.allocateDirect(GUARD_BYTES + REGION_BYTES + GUARD_BYTES);
		for (int i = 0; i < memory.capacity(); i++) {
			memory.put(i, GUARD);
		}
		return memory;
	}

	private MemoryRegion register(ByteBuffer memory, AccessFlag... access) {
		EnumSet<AccessFlag> flags = EnumSet.noneOf(AccessFlag.class);
		flags.addAll(Arrays.asList(access));
		return this.domain.registerMemory(memory.duplicate().position(GUARD_BYTES).limit(GUARD_BYTES + REGION_BYTES),
				flags);
	}

	/** Digests one input. */
	void run(byte[] input) throws InterruptedException {
		Choices choices = new Choices(input);
		MemoryRegion writable = register(this.open, AccessFlag.REMOTE_READ, AccessFlag.REMOTE_WRITE);
		MemoryRegion readable = register(this.readOnly, AccessFlag.REMOTE_READ);
		MemoryRegion target = register(this.received, AccessFlag.LOCAL_WRITE);
		IwarpQueuePair queuePair = (IwarpQueuePair) this.domain
			.createQueuePair(new QueuePairOptions(this.completionQueue, null, 8, 8, 4, 4, QueuePairListener.NONE));
		WorkRequest request = new WorkRequest(4);
		for (int i = 0; i < RECEIVES; i++) {
			request.receive(i).addSegment(target, i * 100, 50 + i).addSegment(target, 2000, 500);
			queuePair.postReceive(request);
		}
		boolean crc = choices.flag();
		ConnectionParameters parameters = new ConnectionParameters(true, crc, 1000, READS, READS, ReadyToReceive.NONE);
		Reactor reactor = this.completionQueue.engine();
		reactor.lock();
		ScriptedStream stream;
		try {
			ByteBuffer script = new InboundScript(choices, crc, writable, readable).write();
			stream = new ScriptedStream(script, choices.lengths());
			ConnectionLifecycle lifecycle = queuePair.lifecycle();
			lifecycle.attach(lifecycle.newConnection(stream, parameters), null);
		}
		finally {
			reactor.unlock();
		}
		int reads = choices.below(READS + 1);
		for (int i = 0; i < reads; i++) {
			queuePair.postSend(request.read(100 + i, 0x1000, 7).addSegment(target, 1000, 300));
		}
		int completed = digest(queuePair);
		assertThat(completed).as("completions").isEqualTo(RECEIVES + reads);
		assertThat(queuePair.state()).isEqualTo(QueuePairState.ERROR);
		assertGuards();
		checkOutput(stream.written(), crc);
		queuePair.close();
		writable.close();
		readable.close();
		target.close();
	}

	private int digest(IwarpQueuePair queuePair) {
		int completed = 0;
		for (int idle = 0; idle < 4;) {
			Reactor reactor = this.completionQueue.engine();
			reactor.lock();
			try {
				queuePair.lifecycle().advance();
			}
			finally {
				reactor.unlock();
			}
			int count = this.completionQueue.poll(this.polled);
			completed += count;
			for (int i = 0; i < count; i++) {
				boolean receive = this.polled[i].opcode() == WorkOpcode.RECEIVE;
				assertThat(this.polled[i].byteLength()).isLessThanOrEqualTo(receive ? 553 : 300);
			}
			boolean ended = queuePair.state() == QueuePairState.ERROR;
			idle = (ended && count == 0) ? idle + 1 : 0;
		}
		return completed;
	}

	private void assertGuards() {
		for (int i = 0; i < GUARD_BYTES; i++) {
			for (ByteBuffer memory : new ByteBuffer[] { this.open, this.readOnly, this.received }) {
				assertThat(memory.get(i)).isEqualTo(GUARD);
				assertThat(memory.get(memory.capacity() - 1 - i)).isEqualTo(GUARD);
			}
		}
		for (int i = 0; i < this.readOnly.capacity(); i++) {
			assertThat(this.readOnly.get(i)).isEqualTo(GUARD);
		}
	}

	/** All that was sent is whole frames with good CRCs. */
	private static void checkOutput(byte[] written, boolean crcEnabled) {
		ByteBuffer out = ByteBuffer.wrap(written);
		while (out.hasRemaining()) {
			int total = FpduFlyweight.totalBytes(FpduFlyweight.ulpduLength(out, out.position()));
			ByteBuffer frame = out.slice(out.position(), total);
			int end = total - FpduFlyweight.CRC_BYTES;
			assertThat(FpduFlyweight.crc(frame, end)).isEqualTo(crcEnabled ? Fpdu.crcOf(frame, end) : 0);
			out.position(out.position() + total);
		}
	}

	@Override
	public void close() {
		this.completionQueue.close();
		this.domain.close();
		this.device.close();
	}

	/** A sequence of decisions taken from bytes; zeros when they are used up. */
	static final class Choices {

		private final byte[] input;

		private int position;

		Choices(byte[] input) {
			this.input = input;
		}

		boolean hasMore() {
			return this.position < this.input.length;
		}

		int next() {
			return hasMore() ? this.input[this.position++] & 0xFF : 0;
		}

		int nextInt() {
			return next() << 24 | next() << 16 | next() << 8 | next();
		}

		boolean flag() {
			return (next() & 1) != 0;
		}

		int below(int bound) {
			return next() % bound;
		}

		int[] lengths() {
			int[] lengths = new int[1 + below(4)];
			for (int i = 0; i < lengths.length; i++) {
				lengths[i] = flag() ? next() : next() << 8 | 0xFF;
			}
			return lengths;
		}

		byte[] bytes(int length) {
			byte[] bytes = new byte[length];
			for (int i = 0; i < length; i++) {
				bytes[i] = (byte) next();
			}
			return bytes;
		}

	}

}
