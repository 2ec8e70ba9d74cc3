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

package dev.rdmarpc.memory;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

class RegisteredMemoryTests {

	private static final int EXTENT_BYTES = 256 << 10;

	private final RegisteredMemory memory = RegisteredMemory
		.create(MemoryOptions.DEFAULTS.withMaxBytes(4 * EXTENT_BYTES)
			.withInitialBytes(EXTENT_BYTES)
			.withExtentBytes(EXTENT_BYTES)
			.withAllocationTimeout(Duration.ofSeconds(30))
			.withLeakDetection(LeakDetection.PARANOID)
			.withRetention(Duration.ZERO));

	private final RecordingHook hook = new RecordingHook();

	@AfterEach
	void nothingIsOutstanding() {
		assertThat(this.memory.metrics().outstanding()).isZero();
		assertThat(this.memory.metrics().allocatedBytes()).isZero();
		this.memory.close();
		assertThat(this.hook.regions).isEmpty();
	}

	@Test
	void bufferIsAViewOfItsPartOfTheExtent() {
		MemoryAttachment attachment = this.memory.attach(this.hook);
		RegisteredBuffer buffer = this.memory.allocate(100);
		assertThat(buffer.length()).isEqualTo(100);
		assertThat(buffer.capacity()).isGreaterThanOrEqualTo(100);
		ByteBuffer view = buffer.buffer();
		assertThat(view.order()).isEqualTo(ByteOrder.LITTLE_ENDIAN);
		assertThat(view.remaining()).isEqualTo(100);
		view.putInt(0, 0x01020304);
		assertThat(buffer.memory().get(buffer.offset())).isEqualTo((byte) 4);
		assertThat(buffer.region(attachment).memory().get(buffer.regionOffset())).isEqualTo((byte) 4);
		assertThat(buffer.buffer()).isSameAs(view);
		buffer.release();
	}

	@Test
	void sliceKeepsTheMemoryUntilBothAreReleased() {
		RegisteredBuffer buffer = this.memory.allocate(1000);
		buffer.buffer().put(500, (byte) 42);
		RegisteredBuffer slice = buffer.slice(500, 10);
		RegisteredBuffer part = slice.slice(0, 1);
		slice.release();
		buffer.release();
		assertThat(this.memory.metrics().outstanding()).isOne();
		assertThat(part.buffer().get(0)).isEqualTo((byte) 42);
		assertThat(part.length()).isOne();
		assertThat(part.release()).isTrue();
	}

	@Test
	void useAfterReleaseIsDetected() {
		RegisteredBuffer buffer = this.memory.allocate(10);
		buffer.retain();
		assertThat(buffer.release()).isFalse();
		assertThat(buffer.release()).isTrue();
		assertThatIllegalStateException().isThrownBy(buffer::buffer);
		assertThatIllegalStateException().isThrownBy(buffer::retain);
		assertThatIllegalStateException().isThrownBy(buffer::release);
		assertThatIllegalStateException().isThrownBy(() -> buffer.slice(0, 1));
	}

	@Test
	void exhaustionFailsTheCallThatAskedAndNoOther() {
		RegisteredBuffer all = this.memory.allocate(2 * EXTENT_BYTES);
		RegisteredBuffer rest = this.memory.allocate(EXTENT_BYTES);
		assertThat(this.memory.tryAllocate(EXTENT_BYTES + 1)).isNull();
		assertThat(this.memory.metrics().failures()).isOne();
		this.memory.allocate(64).release();
		all.release();
		rest.release();
	}

	@Test
	void waitsUntilAnotherThreadReleases() throws Exception {
		RegisteredBuffer all = this.memory.allocate(4 * EXTENT_BYTES - EXTENT_BYTES);
		RegisteredBuffer rest = this.memory.allocate(EXTENT_BYTES);
		CompletableFuture<RegisteredBuffer> waiting = CompletableFuture.supplyAsync(() -> this.memory.allocate(1));
		while (this.memory.metrics().waits() == 0) {
			Thread.onSpinWait();
		}
		rest.release();
		waiting.get(20, TimeUnit.SECONDS).release();
		all.release();
	}

	@Test
	void attachRegistersWhatIsThereAndWhatComes() {
		RegisteredBuffer early = this.memory.allocate(64);
		MemoryAttachment attachment = this.memory.attach(this.hook);
		assertThat(this.hook.registeredBytes()).isEqualTo(EXTENT_BYTES);
		RegisteredBuffer late = this.memory.allocate(EXTENT_BYTES);
		assertThat(this.hook.registeredBytes()).isEqualTo(2 * EXTENT_BYTES);
		assertThat(late.region(attachment).isValid()).isTrue();
		attachment.close();
		assertThat(this.hook.regions).isEmpty();
		assertThatIllegalStateException().isThrownBy(() -> early.region(attachment));
		early.release();
		late.release();
	}

	@Test
	void usersMemoryIsRegisteredOnce() {
		MemoryAttachment attachment = this.memory.attach(this.hook);
		ByteBuffer own = ByteBuffer.allocateDirect(1000);
		RegisteredBuffer first = this.memory.register(own);
		RegisteredBuffer second = this.memory.register(own);
		assertThat(second.region(attachment)).isSameAs(first.region(attachment));
		assertThat(first.length()).isEqualTo(1000);
		first.release();
		second.release();
		assertThatIllegalArgumentException().isThrownBy(() -> this.memory.register(ByteBuffer.allocate(10)))
			.withMessageContaining("expected: a direct buffer");
	}

}
