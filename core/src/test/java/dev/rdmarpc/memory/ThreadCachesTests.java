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

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.ref.WeakReference;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;

class ThreadCachesTests {

	private static final int CACHE_BYTES = 256 << 10;

	private final RegisteredMemory memory = RegisteredMemory.create(MemoryOptions.DEFAULTS.withMaxBytes(16 << 20)
		.withInitialBytes(4 << 20)
		.withExtentBytes(4 << 20)
		.withThreadCacheBytes(CACHE_BYTES)
		.withAllocationTimeout(Duration.ZERO));

	@AfterEach
	void nothingIsOutstanding() {
		assertThat(this.memory.metrics().outstanding()).isZero();
		this.memory.close();
		assertThat(this.memory.metrics().cachedBytes()).isZero();
	}

	private void allocateAndRelease(int count, int lengthBytes) {
		List<RegisteredBuffer> buffers = new ArrayList<>();
		for (int index = 0; index < count; index++) {
			buffers.add(this.memory.allocate(lengthBytes));
		}
		buffers.forEach(RegisteredBuffer::release);
	}

	/**
	 * A virtual thread that holds a cache waits for a size class; others wait for the
	 * cache, more than have a processor. The holder is made runnable by a platform
	 * thread.
	 */
	@Test
	@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
	void virtualThreadsThatWaitForACacheLetItsHolderRun() throws Exception {
		Assumptions.assumeTrue(Runtime.version().feature() >= 21, "no virtual threads");
		Method start = Thread.class.getMethod("startVirtualThread", Runnable.class);
		ThreadCache cache = new ThreadCache(new Extents(MemoryOptions.DEFAULTS, new Registrar(), () -> 0, () -> {
		}), new SizeClassPool[0], CACHE_BYTES);
		CountDownLatch held = new CountDownLatch(1);
		CountDownLatch released = new CountDownLatch(1);
		List<Thread> threads = new ArrayList<>();
		threads.add((Thread) start.invoke(null, (Runnable) () -> {
			cache.lock();
			held.countDown();
			awaitUninterruptibly(released);
			cache.unlock();
		}));
		held.await();
		int count = 8 * Runtime.getRuntime().availableProcessors();
		CountDownLatch waiting = new CountDownLatch(count / 2);
		for (int index = 0; index < count; index++) {
			boolean interrupted = index % 2 == 0;
			threads.add((Thread) start.invoke(null, (Runnable) () -> {
				if (interrupted) {
					Thread.currentThread().interrupt();
				}
				waiting.countDown();
				cache.lock();
				cache.unlock();
				assertThat(Thread.currentThread().isInterrupted()).isEqualTo(interrupted);
			}));
		}
		waiting.await();
		released.countDown();
		for (Thread thread : threads) {
			thread.join();
		}
		assertThat(cache.tryLock()).isTrue();
	}

	private static void awaitUninterruptibly(CountDownLatch latch) {
		try {
			latch.await();
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

	@Test
	void theSameThreadGetsTheSameBlockAgain() {
		RegisteredBuffer first = this.memory.allocate(100);
		first.release();
		RegisteredBuffer second = this.memory.allocate(101);
		assertThat(second).isSameAs(first);
		assertThat(second.length()).isEqualTo(101);
		second.release();
	}

	@Test
	void cacheIsBoundedInBytes() {
		for (int length = 64; length <= SizeClasses.MAX_BYTES; length += length / 16) {
			allocateAndRelease(64, length);
			assertThat(this.memory.metrics().cachedBytes()).as("after %d", length).isLessThanOrEqualTo(CACHE_BYTES);
		}
		assertThat(this.memory.metrics().cachedBytes()).isGreaterThan(CACHE_BYTES / 2);
	}

	@Test
	void allCachesTogetherAreAQuarterOfTheBudget() throws Exception {
		List<Thread> threads = new ArrayList<>();
		for (int index = 0; index < 30; index++) {
			threads.add(new Thread(() -> {
				for (int length = 64; length <= 8192; length += length / 8) {
					allocateAndRelease(20, length);
				}
			}));
		}
		threads.forEach(Thread::start);
		for (Thread thread : threads) {
			thread.join(20_000);
		}
		assertThat(this.memory.metrics().cachedBytes()).isBetween(1L, 4L << 20);
	}

	@Test
	void cacheOfAnEndedThreadGoesToTheNext() throws Exception {
		List<RegisteredBuffer> seen = new ArrayList<>();
		for (int index = 0; index < 100; index++) {
			Thread thread = new Thread(() -> {
				RegisteredBuffer buffer = this.memory.allocate(1000);
				seen.add(buffer);
				buffer.release();
			});
			thread.start();
			thread.join(20_000);
		}
		assertThat(seen).hasSize(100).allMatch((buffer) -> buffer == seen.get(0));
	}

	@Test
	void aClosedPoolIsNotReachableFromThreadsThatUsedIt() throws Exception {
		ExecutorService user = Executors.newSingleThreadExecutor();
		try {
			WeakReference<RegisteredMemory> closed = useAndClose(user);
			long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
			while (closed.get() != null && System.nanoTime() - deadline < 0) {
				System.gc();
				user.submit(() -> allocateAndRelease(1, 100)).get();
			}
			assertThat(closed.get()).as("closed pool, while a thread that used it lives").isNull();
		}
		finally {
			user.shutdown();
		}
	}

	private static WeakReference<RegisteredMemory> useAndClose(ExecutorService user) throws Exception {
		RegisteredMemory other = RegisteredMemory.create(MemoryOptions.DEFAULTS);
		user.submit(() -> {
			RegisteredBuffer buffer = other.allocate(100);
			buffer.slice(0, 10).release();
			buffer.release();
		}).get();
		other.close();
		return new WeakReference<>(other);
	}

	@Test
	void virtualThreadsShareTheCachesThereAre() throws Throwable {
		List<Thread> threads = new ArrayList<>();
		for (int index = 0; index < 500; index++) {
			threads.add(startVirtual(() -> allocateAndRelease(10, 4000)));
		}
		for (Thread thread : threads) {
			thread.join(20_000);
		}
		assertThat(this.memory.metrics().allocations()).isEqualTo(5000);
		assertThat(this.memory.metrics().cachedBytes()).isBetween(1L, 4L << 20);
	}

	@Test
	void virtualThreadsOneAfterTheOtherFillNoMoreCachesThanThereAreProcessors() throws Throwable {
		for (int index = 0; index < 500; index++) {
			int length = 1000 << (index / 8 % 4);
			startVirtual(() -> allocateAndRelease(100, length)).join(20_000);
		}
		assertThat(this.memory.metrics().cachedBytes()).isBetween(1L,
				(long) Runtime.getRuntime().availableProcessors() * CACHE_BYTES);
	}

	private static Thread startVirtual(Runnable task) throws Throwable {
		MethodHandle start;
		try {
			start = MethodHandles.publicLookup()
				.findStatic(Thread.class, "startVirtualThread", MethodType.methodType(Thread.class, Runnable.class));
		}
		catch (ReflectiveOperationException ex) {
			return Assumptions.abort("no virtual threads before Java 21");
		}
		return (Thread) start.invokeExact(task);
	}

	@Test
	void cacheWhoseHolderIsSuspendedDelaysNobody() {
		Extents extents = new Extents(MemoryOptions.DEFAULTS, new Registrar(), () -> 0, () -> {
		});
		ThreadCaches caches = new ThreadCaches(MemoryOptions.DEFAULTS, extents, new SizeClassPool[0]);
		ThreadCache mine = caches.lock();
		ThreadCache another = caches.lock();
		assertThat(another).isNotSameAs(mine);
		another.unlock();
		mine.unlock();
		ThreadCache again = caches.lock();
		assertThat(again).isSameAs(mine);
		again.unlock();
	}

}
