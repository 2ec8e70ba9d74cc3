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

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import dev.rdmarpc.codec.MessageSegments;
import dev.rdmarpc.memory.LeakDetection;
import dev.rdmarpc.memory.MemoryAttachment;
import dev.rdmarpc.memory.MemoryExhaustedException;
import dev.rdmarpc.memory.MemoryOptions;
import dev.rdmarpc.memory.RegisteredBuffer;
import dev.rdmarpc.memory.RegisteredMemory;
import dev.rdmarpc.memory.RegistrationHook;
import dev.rdmarpc.verbs.ProtectionDomain;
import dev.rdmarpc.verbs.QueuePair;
import dev.rdmarpc.verbs.QueuePairOptions;
import dev.rdmarpc.verbs.VerbsDevice;
import dev.rdmarpc.verbs.VerbsException;
import dev.rdmarpc.verbs.iwarp.IwarpProvider;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

class ExposureTests {

	private final VerbsDevice device = new IwarpProvider().openDevice(null);

	private final ProtectionDomain domain = this.device.allocateProtectionDomain();

	private final QueuePair peer = queuePair(this.domain);

	private final RegisteredMemory memory = RegisteredMemory
		.create(MemoryOptions.DEFAULTS.withLeakDetection(LeakDetection.PARANOID));

	private final MemoryAttachment attachment = this.memory.attach(RegistrationHook.of(this.domain));

	private final MessageSegments message = new MessageSegments();

	private final ByteArrayOutputStream expected = new ByteArrayOutputStream();

	private final List<RegisteredBuffer> buffers = new ArrayList<>();

	private QueuePair queuePair(ProtectionDomain owner) {
		return owner.createQueuePair(new QueuePairOptions(this.device.createCompletionQueue(2), null, 1, 1, 1, 1,
				(pair, fault) -> assertThat(fault).isNull()));
	}

	@AfterEach
	void nothingIsOutstanding() {
		this.message.clear();
		this.buffers.forEach((buffer) -> assertThat(buffer.references()).isOne());
		this.buffers.forEach(RegisteredBuffer::release);
		assertThat(this.memory.metrics().outstanding()).isZero();
		this.memory.close();
		this.device.close();
	}

	private void addRegistered(Random random, int offset, int length) {
		RegisteredBuffer buffer = this.memory.allocate(offset + length + 5);
		byte[] bytes = bytes(random, length);
		buffer.buffer().put(offset, bytes);
		this.buffers.add(buffer);
		this.message.add(buffer, offset, length);
	}

	private void addOther(Random random, int length) {
		this.message.addBytes(ByteBuffer.wrap(bytes(random, length)));
	}

	private byte[] bytes(Random random, int length) {
		byte[] bytes = new byte[length];
		random.nextBytes(bytes);
		this.expected.writeBytes(bytes);
		return bytes;
	}

	private byte[] content(Exposure exposure) {
		ByteArrayOutputStream content = new ByteArrayOutputStream();
		for (int i = 0; i < exposure.windowCount(); i++) {
			byte[] bytes = new byte[exposure.window(i).lengthBytes()];
			exposure.window(i).memory().get(0, bytes);
			content.writeBytes(bytes);
		}
		return content.toByteArray();
	}

	@Test
	void registeredSegmentsAreOpenedWhereTheyLieAndTheRestIsCopied() {
		Random random = new Random(3);
		addOther(random, 100);
		addOther(random, 7);
		addRegistered(random, 3, 5000);
		addRegistered(random, 0, 1);
		addOther(random, 1);
		addOther(random, 40_000);
		long before = this.memory.metrics().allocations();
		List<Integer> copied = new ArrayList<>();
		Exposure exposure = Exposure.open(this.domain, this.attachment, this.peer, this.message, (bytes) -> {
			copied.add(bytes);
			return this.memory.allocate(bytes);
		});
		assertThat(copied).containsExactly(40_108);
		assertThat(this.memory.metrics().allocations() - before).isOne();
		assertThat(exposure.windowCount()).isEqualTo(4);
		assertThat(content(exposure)).isEqualTo(this.expected.toByteArray());
		this.buffers.get(0).buffer().put(3, (byte) ~this.expected.toByteArray()[107]);
		assertThat(content(exposure)[107]).as("not a copy").isEqualTo((byte) ~this.expected.toByteArray()[107]);
		this.message.clear();
		assertThat(this.buffers.get(0).references()).isEqualTo(2);
		exposure.close();
		exposure.close();
	}

	@ParameterizedTest
	@ValueSource(longs = { 1, 2, 3, 4, 5, 6, 7, 8 })
	void anyMixtureIsOpenedCompletely(long seed) {
		Random random = new Random(seed);
		int segments = 1 + random.nextInt(100);
		for (int i = 0; i < segments; i++) {
			if (random.nextBoolean()) {
				addRegistered(random, random.nextInt(10), 1 + random.nextInt(3000));
			}
			else {
				addOther(random, 1 + random.nextInt(3000));
			}
		}
		Exposure exposure = Exposure.open(this.domain, this.attachment, this.peer, this.message, this.memory::allocate);
		assertThat(exposure.windowCount()).as("seed %d", seed).isBetween(1, WindowListFlyweight.MAX_WINDOWS);
		assertThat(content(exposure)).as("seed %d", seed).isEqualTo(this.expected.toByteArray());
		exposure.close();
	}

	@Test
	void windowsAreForTheConnectionOfTheirPeer() {
		addRegistered(new Random(1), 0, 1000);
		QueuePair stranger = queuePair(this.device.allocateProtectionDomain());
		assertThatExceptionOfType(VerbsException.class)
			.isThrownBy(
					() -> Exposure.open(this.domain, this.attachment, stranger, this.message, this.memory::allocate))
			.withMessageContaining("not of this protection domain");
	}

	@Test
	void nothingStaysOpenWhenThereIsNoMemory() {
		Random random = new Random(1);
		addRegistered(random, 0, 1000);
		addOther(random, 1000);
		assertThatExceptionOfType(MemoryExhaustedException.class)
			.isThrownBy(() -> Exposure.open(this.domain, this.attachment, this.peer, this.message, (bytes) -> {
				throw new MemoryExhaustedException("none", null);
			}));
	}

	@Test
	void nothingStaysOpenWhenTheDeviceRefuses() {
		Random random = new Random(1);
		addRegistered(random, 0, 1000);
		addOther(random, 1000);
		this.domain.close();
		assertThatExceptionOfType(VerbsException.class).isThrownBy(
				() -> Exposure.open(this.domain, this.attachment, this.peer, this.message, this.memory::allocate));
	}

}
