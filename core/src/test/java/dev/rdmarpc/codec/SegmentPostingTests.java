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

package dev.rdmarpc.codec;

import java.nio.ByteBuffer;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import dev.rdmarpc.memory.LeakDetection;
import dev.rdmarpc.memory.MemoryAttachment;
import dev.rdmarpc.memory.MemoryOptions;
import dev.rdmarpc.memory.RecordingHook;
import dev.rdmarpc.memory.RegisteredBuffer;
import dev.rdmarpc.memory.RegisteredMemory;
import dev.rdmarpc.verbs.VerbsException;
import dev.rdmarpc.verbs.WorkRequest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/** Segments in the gather list of a work request. */
class SegmentPostingTests {

	private final RegisteredMemory memory = RegisteredMemory
		.create(MemoryOptions.DEFAULTS.withLeakDetection(LeakDetection.PARANOID));

	private final MemoryAttachment attachment = this.memory.attach(new RecordingHook());

	private final MessageSegments segments = new MessageSegments();

	private final WorkRequest request = new WorkRequest(32);

	@AfterEach
	void nothingIsOutstanding() {
		this.segments.clear();
		assertThat(this.memory.metrics().outstanding()).as("buffers outstanding").isZero();
		this.memory.close();
	}

	@Test
	void allSegmentsAreNamedInTheirOrder() {
		RegisteredBuffer scratch = filled(100, 1);
		RegisteredBuffer content = filled(300_000, 2);
		this.segments.keep(scratch);
		this.segments.addKept(scratch, scratch.offset(), 10);
		this.segments.add(content, 0, 300_000);
		this.segments.addKept(scratch, scratch.offset() + 10, 20);
		this.segments.add(content, 0, 300_000);
		this.segments.addKept(scratch, scratch.offset() + 30, 5);
		RegisteredBuffer other = filled(50, 3);
		this.segments.keep(other);
		this.segments.addKept(other, other.offset() + 1, 2);
		this.segments.add(content, 0, 300_000);
		content.release();
		MessageSegments outer = new MessageSegments();
		outer.addAll(this.segments);
		this.segments.addTo(this.request.send(1), this.attachment);
		assertThat(this.request.segmentCount()).isEqualTo(7);
		assertThat(gathered()).isEqualTo(content(this.segments));
		outer.addAll(this.segments);
		outer.addTo(this.request.send(2), this.attachment);
		assertThat(this.request.segmentCount()).isEqualTo(14);
		assertThat(gathered()).isEqualTo(content(outer));
		assertThat(outer.segmentCount()).isEqualTo(14);
		outer.clear();
	}

	@Test
	void whatIsNotRegisteredIsRefused() {
		RegisteredBuffer content = filled(5000, 4);
		ByteBuffer claimed = this.segments.claimMemory(100);
		claimed.putLong(0, 42);
		this.segments.add(claimed, 0, 8);
		this.segments.add(content, 0, 5000);
		content.release();
		assertThatIllegalStateException().isThrownBy(() -> this.segments.addTo(this.request.send(1), this.attachment))
			.withMessage("segment in other memory (expected: registered memory)");
	}

	@Test
	void tooManySegmentsAndClosedAttachmentsAreRefused() {
		RegisteredBuffer content = filled(10, 5);
		this.segments.add(content, 0, 1);
		this.segments.add(content, 3, 1);
		content.release();
		assertThatExceptionOfType(VerbsException.class)
			.isThrownBy(() -> this.segments.addTo(new WorkRequest(1).send(1), this.attachment));
		this.attachment.close();
		assertThatIllegalStateException().isThrownBy(() -> this.segments.addTo(this.request.send(1), this.attachment));
	}

	@Test
	void whatIsRefusedIsNeitherRetainedNorCounted() {
		RegisteredBuffer content = filled(10, 6);
		this.segments.maxBytes(9);
		assertThatExceptionOfType(MessageTooLargeException.class).isThrownBy(() -> this.segments.add(content, 0, 10));
		assertThat(content.references()).isOne();
		this.segments.add(content, 0, 9);
		assertThat(content.references()).isEqualTo(2);
		assertThat(this.segments.totalBytes()).isEqualTo(9);
		this.segments.clear();
		assertThat(content.release()).isTrue();
		assertThatIllegalStateException().isThrownBy(() -> this.segments.add(content, 0, 1));
		assertThat(this.segments.totalBytes()).isZero();
	}

	private RegisteredBuffer filled(int length, int seed) {
		RegisteredBuffer buffer = this.memory.allocate(length);
		for (int i = 0; i < length; i++) {
			buffer.buffer().put(i, (byte) (seed * 31 + i));
		}
		return buffer;
	}

	private ByteBuffer gathered() {
		ByteBuffer bytes = ByteBuffer.allocate((int) this.request.totalBytes());
		for (int i = 0; i < this.request.segmentCount(); i++) {
			bytes.put(this.request.segmentRegion(i)
				.memory()
				.slice(this.request.segmentOffset(i), this.request.segmentLength(i)));
		}
		return bytes.flip();
	}

	private static ByteBuffer content(MessageSegments message) {
		ByteBuffer bytes = ByteBuffer.allocate(message.totalBytes());
		message.copyTo(bytes);
		return bytes.flip();
	}

}
