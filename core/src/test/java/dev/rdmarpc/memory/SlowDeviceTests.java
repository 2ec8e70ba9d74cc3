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
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import dev.rdmarpc.verbs.MemoryRegion;

import static org.assertj.core.api.Assertions.assertThat;

/** A device that takes its time delays nobody who does not need what it works on. */
@Timeout(60)
class SlowDeviceTests {

	private static final int MIB = 1 << 20;

	private static final int LARGE = 8 * MIB;

	private final RegisteredMemory memory = RegisteredMemory.create(MemoryOptions.DEFAULTS.withMaxBytes(32 * MIB)
		.withInitialBytes(MIB)
		.withExtentBytes(MIB)
		.withRetention(Duration.ZERO)
		.withRegistrationCacheBytes(LARGE));

	private final SlowHook hook = new SlowHook();

	private final MemoryAttachment attachment = this.memory.attach(this.hook);

	private final ExecutorService executor = Executors.newCachedThreadPool();

	@AfterEach
	void nothingIsOutstanding() throws Exception {
		this.hook.mayRegister.countDown();
		this.hook.mayDeregister.countDown();
		this.executor.shutdown();
		assertThat(this.executor.awaitTermination(20, TimeUnit.SECONDS)).isTrue();
		assertThat(this.memory.metrics().outstanding()).isZero();
		this.memory.close();
		assertThat(this.hook.recorder.regions).isEmpty();
	}

	@Test
	void othersGrowAndShrinkWhileALargePieceIsRegistered() throws Exception {
		CompletableFuture<RegisteredBuffer> large = CompletableFuture.supplyAsync(() -> this.memory.allocate(LARGE),
				this.executor);
		this.hook.registering.await();
		for (int turn = 0; turn < 3; turn++) {
			growAndShrink();
		}
		this.memory.register(ByteBuffer.allocateDirect(100)).release();
		assertThat(large).isNotDone();
		this.hook.mayRegister.countDown();
		large.get(20, TimeUnit.SECONDS).release();
	}

	private void growAndShrink() {
		List<RegisteredBuffer> all = new ArrayList<>();
		for (int count = 0; count < 4; count++) {
			all.add(Objects.requireNonNull(this.memory.tryAllocate(MIB)));
		}
		all.forEach(RegisteredBuffer::release);
	}

	@Test
	void whoReleasesDoesNotDeregister() throws Exception {
		this.hook.mayRegister.countDown();
		this.memory.allocate(LARGE).release();
		this.hook.deregistering.await();
		assertThat(this.hook.deregisteredBy).isNotSameAs(Thread.currentThread());
		assertThat(this.memory.metrics().registeredBytes()).as("until it is deregistered")
			.isGreaterThanOrEqualTo(LARGE);
		growAndShrink();
	}

	@Test
	void whoReleasesMemoryOfTheUsersWaitsForNoDevice() throws Exception {
		RegisteredBuffer small = this.memory.register(ByteBuffer.allocateDirect(MIB));
		CompletableFuture<RegisteredBuffer> large = CompletableFuture
			.supplyAsync(() -> this.memory.register(ByteBuffer.allocateDirect(LARGE)), this.executor);
		this.hook.registering.await();
		small.release();
		this.hook.mayRegister.countDown();
		large.get(20, TimeUnit.SECONDS).release();
		this.memory.register(ByteBuffer.allocateDirect(LARGE)).release();
		this.hook.deregistering.await();
		assertThat(this.hook.deregisteredBy).isNotSameAs(Thread.currentThread());
	}

	@Test
	void whatWasPutAsideIsDeregisteredBeforeItIsForgotten() throws Exception {
		this.hook.mayRegister.countDown();
		ByteBuffer own = ByteBuffer.allocateDirect(LARGE);
		RegisteredBuffer buffer = this.memory.register(own);
		MemoryRegion region = buffer.region(this.attachment);
		buffer.release();
		this.memory.register(ByteBuffer.allocateDirect(MIB)).release();
		this.hook.deregistering.await();
		CompletableFuture<Boolean> forgotten = CompletableFuture.supplyAsync(() -> this.memory.forget(own),
				this.executor);
		assertThat(region.isValid()).isTrue();
		this.hook.mayDeregister.countDown();
		forgotten.get(20, TimeUnit.SECONDS);
		assertThat(region.isValid()).isFalse();
	}

	@Test
	void detachingWaitsForWhatIsBeingDeregistered() throws Exception {
		this.hook.mayRegister.countDown();
		this.memory.allocate(LARGE).release();
		this.hook.deregistering.await();
		CompletableFuture<Void> detached = CompletableFuture.runAsync(this.attachment::close, this.executor);
		assertThat(detached).isNotDone();
		this.hook.mayDeregister.countDown();
		detached.get(20, TimeUnit.SECONDS);
		assertThat(this.hook.recorder.regions).isEmpty();
	}

	/** Lets who works on a large piece wait. */
	private static final class SlowHook implements RegistrationHook {

		private final RecordingHook recorder = new RecordingHook();

		private final CountDownLatch registering = new CountDownLatch(1);

		private final CountDownLatch mayRegister = new CountDownLatch(1);

		private final CountDownLatch deregistering = new CountDownLatch(1);

		private final CountDownLatch mayDeregister = new CountDownLatch(1);

		private volatile Thread deregisteredBy = Thread.currentThread();

		@Override
		public MemoryRegion register(ByteBuffer extent) {
			if (extent.remaining() >= LARGE) {
				this.registering.countDown();
				await(this.mayRegister);
			}
			return this.recorder.register(extent);
		}

		@Override
		public void deregister(MemoryRegion region) {
			if (region.lengthBytes() >= LARGE) {
				this.deregisteredBy = Thread.currentThread();
				this.deregistering.countDown();
				await(this.mayDeregister);
			}
			this.recorder.deregister(region);
		}

		private static void await(CountDownLatch latch) {
			try {
				latch.await();
			}
			catch (InterruptedException ex) {
				throw new IllegalStateException(ex);
			}
		}

	}

}
