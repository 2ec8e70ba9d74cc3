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
import java.time.Duration;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

@Timeout(60)
class MemoryLeakTests {

	private static RegisteredMemory create(LeakDetection detection) {
		return RegisteredMemory.create(MemoryOptions.DEFAULTS.withMaxBytes(64 << 20)
			.withInitialBytes(1 << 20)
			.withExtentBytes(1 << 20)
			.withAllocationTimeout(Duration.ZERO)
			.withLeakDetection(detection));
	}

	@Test
	void outstandingBufferIsReportedWithThePlaceThatAllocatedIt() {
		RegisteredMemory memory = create(LeakDetection.PARANOID);
		RegisteredBuffer buffer = allocateHere(memory);
		assertThatIllegalStateException().isThrownBy(memory::close)
			.withMessageStartingWith("1 buffers outstanding")
			.satisfies((ex) -> assertThat(ex.getSuppressed()).hasSize(1)
				.allSatisfy((site) -> assertThat(site.getStackTrace())
					.anyMatch((frame) -> frame.getMethodName().equals("allocateHere"))));
		buffer.release();
		assertThat(memory.metrics().outstanding()).isZero();
	}

	private static RegisteredBuffer allocateHere(RegisteredMemory memory) {
		return memory.allocate(100);
	}

	@ParameterizedTest
	@EnumSource(value = LeakDetection.class, names = { "SIMPLE", "PARANOID" })
	void lostBuffersAreFound(LeakDetection detection) {
		RegisteredMemory memory = create(detection);
		lose(memory, 20 * LeakDetector.SAMPLING);
		long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
		while (memory.metrics().leaks() == 0) {
			assertThat(System.nanoTime()).as("no leak was found").isLessThan(deadline);
			System.gc();
		}
		if (detection == LeakDetection.PARANOID) {
			assertThatIllegalStateException().isThrownBy(memory::close);
		}
		else {
			memory.close();
		}
	}

	private static void lose(RegisteredMemory memory, int count) {
		for (int index = 0; index < count; index++) {
			memory.allocate(64 + index).touch("lost on purpose");
		}
	}

	@Test
	void nothingIsFollowedUnlessSwitchedOn() {
		RegisteredMemory memory = create(LeakDetection.DISABLED);
		lose(memory, 10);
		assertThat(memory.metrics().leaks()).isZero();
		assertThat(memory.metrics().outstanding()).isEqualTo(10);
		memory.close();
	}

	@Test
	void touchesAreKeptForTheReport() {
		RegisteredMemory memory = create(LeakDetection.PARANOID);
		RegisteredBuffer buffer = memory.allocate(10);
		LeakDetector.Track track = buffer.follow(null);
		assertThat(track).isNotNull();
		buffer.follow(track);
		RegisteredBuffer slice = buffer.slice(0, 1);
		for (int index = 0; index < 10; index++) {
			slice.touch("step " + index);
		}
		assertThat(track.hints()).hasSize(8).last().isEqualTo("step 9");
		slice.release();
		buffer.release();
		memory.close();
	}

	@ParameterizedTest
	@EnumSource(LeakDetection.class)
	void objectsAreUsedAgainUnlessParanoid(LeakDetection detection) {
		RegisteredMemory memory = create(detection);
		RegisteredBuffer first = memory.allocate(100);
		RegisteredBuffer slice = first.slice(0, 10);
		slice.release();
		first.release();
		RegisteredBuffer second = memory.allocate(100);
		RegisteredBuffer another = second.slice(5, 10);
		assertThat(second == first).isEqualTo(detection != LeakDetection.PARANOID);
		assertThat(another == slice).isEqualTo(detection != LeakDetection.PARANOID);
		another.release();
		second.release();
		memory.close();
	}

	@Test
	void writeAfterReleaseIsFoundAtTheNextAllocation() {
		RegisteredMemory memory = create(LeakDetection.PARANOID);
		RegisteredBuffer buffer = memory.allocate(100);
		ByteBuffer view = buffer.buffer();
		buffer.release();
		view.put(57, (byte) 1);
		assertThatIllegalStateException().isThrownBy(() -> memory.allocate(100))
			.withMessageContaining("written after its release, at byte 57");
		assertThatIllegalStateException().isThrownBy(memory::close);
	}

}
