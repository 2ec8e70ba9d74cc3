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
import java.util.ArrayList;
import java.util.List;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import dev.rdmarpc.verbs.MemoryRegion;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/** Hooks of several devices, and memory of the user's own. */
class MemoryRegistrationTests {

	private static final int EXTENT_BYTES = 1 << 20;

	private final RegisteredMemory memory = RegisteredMemory
		.create(MemoryOptions.DEFAULTS.withMaxBytes(8 * EXTENT_BYTES)
			.withInitialBytes(EXTENT_BYTES)
			.withExtentBytes(EXTENT_BYTES)
			.withRegistrationCacheBytes(10_000)
			.withAllocationTimeout(Duration.ZERO)
			.withLeakDetection(LeakDetection.PARANOID)
			.withRetention(Duration.ZERO));

	private final RecordingHook first = new RecordingHook();

	private final RecordingHook second = new RecordingHook();

	@AfterEach
	void nothingIsOutstanding() {
		assertThat(this.memory.metrics().outstanding()).isZero();
		this.memory.close();
		assertThat(this.first.regions).isEmpty();
		assertThat(this.second.regions).isEmpty();
	}

	@Test
	void eachDeviceHasItsOwnRegionOfABuffer() {
		MemoryAttachment one = this.memory.attach(this.first);
		MemoryAttachment two = this.memory.attach(this.second);
		RegisteredBuffer buffer = this.memory.allocate(100);
		buffer.buffer().put(0, (byte) 7);
		assertThat(buffer.region(one)).isNotSameAs(buffer.region(two));
		assertThat(buffer.region(one).memory().get(buffer.regionOffset())).isEqualTo((byte) 7);
		assertThat(buffer.region(two).memory().get(buffer.regionOffset())).isEqualTo((byte) 7);
		one.close();
		assertThat(buffer.region(two).isValid()).isTrue();
		assertThatIllegalStateException().isThrownBy(() -> buffer.region(one));
		buffer.release();
	}

	@Test
	void indexOfAClosedAttachmentIsUsedAgain() {
		MemoryAttachment one = this.memory.attach(this.first);
		one.close();
		one.close();
		MemoryAttachment two = this.memory.attach(this.second);
		assertThat(two.index()).isEqualTo(one.index());
		RegisteredBuffer buffer = this.memory.allocate(1);
		assertThat(buffer.region(two).isValid()).isTrue();
		assertThatIllegalStateException().isThrownBy(() -> buffer.region(one));
		buffer.release();
	}

	@Test
	void retiredExtentsAreDeregisteredFromAllDevices() {
		this.memory.attach(this.first);
		this.memory.attach(this.second);
		List<RegisteredBuffer> all = new ArrayList<>();
		for (int index = 0; index < 8; index++) {
			all.add(this.memory.allocate(EXTENT_BYTES));
		}
		assertThat(this.first.regions).hasSize(8);
		assertThat(this.second.regions).hasSize(8);
		all.forEach(RegisteredBuffer::release);
		Eventually.isTrue("7 extents have gone", () -> this.memory.metrics().extentsRemoved() == 7);
		assertThat(this.first.regions).hasSize(1);
		assertThat(this.second.regions).hasSize(1);
	}

	@Test
	void refusingHookRollsTheExtentBack() {
		this.memory.attach(this.first);
		this.memory.attach(this.second);
		this.second.registrationsLeft.set(0);
		assertThatExceptionOfType(MemoryExhaustedException.class)
			.isThrownBy(() -> this.memory.allocate(EXTENT_BYTES + 1))
			.withRootCauseInstanceOf(IllegalStateException.class);
		assertThat(this.first.regions).hasSize(1);
		assertThat(this.second.regions).hasSize(1);
		assertThat(this.memory.metrics().registeredBytes()).isEqualTo(EXTENT_BYTES);
		assertThat(this.memory.metrics().failures()).isOne();
	}

	@Test
	void lateAttachmentThatFailsLeavesNothing() {
		this.memory.attach(this.first);
		RegisteredBuffer more = this.memory.allocate(EXTENT_BYTES);
		RegisteredBuffer own = this.memory.register(ByteBuffer.allocateDirect(10));
		RegisteredBuffer last = this.memory.allocate(1);
		for (int regions = 0; regions < 3; regions++) {
			this.second.registrationsLeft.set(regions);
			assertThatIllegalStateException().isThrownBy(() -> this.memory.attach(this.second));
			assertThat(this.second.regions).isEmpty();
		}
		this.second.registrationsLeft.set(3);
		MemoryAttachment attachment = this.memory.attach(this.second);
		assertThat(own.region(attachment).isValid()).isTrue();
		List.of(more, own, last).forEach(RegisteredBuffer::release);
	}

	@Test
	void repeatedRegistrationGivesTheSameRegion() {
		MemoryAttachment attachment = this.memory.attach(this.first);
		ByteBuffer own = ByteBuffer.allocateDirect(1000);
		RegisteredBuffer buffer = this.memory.register(own);
		MemoryRegion region = buffer.region(attachment);
		RegisteredBuffer second = this.memory.register(own);
		assertThat(second.region(attachment)).isSameAs(region);
		second.release();
		buffer.release();
		RegisteredBuffer later = this.memory.register(own);
		assertThat(later.region(attachment)).isSameAs(region);
		assertThat(this.memory.metrics().registrationHits()).isEqualTo(2);
		assertThat(this.memory.metrics().userBytes()).isEqualTo(1000);
		later.release();
	}

	@Test
	void anotherPartOfTheSameBufferIsAnotherRegion() {
		MemoryAttachment attachment = this.memory.attach(this.first);
		ByteBuffer own = ByteBuffer.allocateDirect(1000);
		RegisteredBuffer whole = this.memory.register(own);
		own.position(100).limit(200);
		RegisteredBuffer part = this.memory.register(own);
		assertThat(part.length()).isEqualTo(100);
		assertThat(part.region(attachment)).isNotSameAs(whole.region(attachment));
		part.buffer().put(0, (byte) 9);
		assertThat(whole.buffer().get(100)).isEqualTo((byte) 9);
		assertThat(this.memory.metrics().userBytes()).isEqualTo(1100);
		whole.release();
		part.release();
	}

	@Test
	void longestUnusedRegistrationsGoWhenTooMuchIsRemembered() {
		this.memory.attach(this.first);
		List<ByteBuffer> own = new ArrayList<>();
		for (int index = 0; index < 5; index++) {
			own.add(ByteBuffer.allocateDirect(4000));
			this.memory.register(own.get(index)).release();
		}
		Eventually.isTrue("two are remembered", () -> this.memory.metrics().userBytes() == 8000);
		this.memory.register(own.get(3)).release();
		assertThat(this.memory.metrics().registrationHits()).isOne();
		this.memory.register(own.get(0)).release();
		this.memory.register(own.get(3)).release();
		assertThat(this.memory.metrics().registrationHits()).isEqualTo(2);
		Eventually.isTrue("two are registered besides the pool", () -> this.first.regions.size() == 3);
	}

	@Test
	void forgottenRegistrationGoesAtOnceOrWithItsLastUse() {
		MemoryAttachment attachment = this.memory.attach(this.first);
		ByteBuffer own = ByteBuffer.allocateDirect(1000);
		this.memory.register(own).release();
		assertThat(this.memory.forget(own)).isTrue();
		assertThat(this.memory.forget(own)).isFalse();
		assertThat(this.first.regions).hasSize(1);
		RegisteredBuffer used = this.memory.register(own);
		MemoryRegion region = used.region(attachment);
		assertThat(this.memory.forget(own)).isTrue();
		assertThat(region.isValid()).isTrue();
		RegisteredBuffer again = this.memory.register(own);
		assertThat(again.region(attachment)).isNotSameAs(region);
		used.release();
		assertThat(region.isValid()).isFalse();
		assertThat(again.region(attachment).isValid()).isTrue();
		again.release();
		assertThat(this.memory.metrics().userBytes()).isEqualTo(1000);
	}

	@Test
	void rememberedRegistrationsGoWhenADeviceRefusesMore() {
		this.memory.attach(this.first);
		this.memory.register(ByteBuffer.allocateDirect(1000)).release();
		this.first.registrationsLeft.set(0);
		assertThatExceptionOfType(MemoryExhaustedException.class)
			.isThrownBy(() -> this.memory.register(ByteBuffer.allocateDirect(1000)))
			.withRootCauseInstanceOf(IllegalStateException.class);
		assertThat(this.first.regions).hasSize(1);
		assertThat(this.memory.metrics().userBytes()).isZero();
	}

	@Test
	void usersReadOnlyMemoryStaysReadOnly() {
		RegisteredBuffer buffer = this.memory.register(ByteBuffer.allocateDirect(10).asReadOnlyBuffer());
		assertThat(buffer.isReadOnly()).isTrue();
		RegisteredBuffer slice = buffer.slice(5, 5);
		buffer.release();
		assertThat(slice.length()).isEqualTo(5);
		slice.release();
	}

}
