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
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

import org.jspecify.annotations.Nullable;

/** Tells virtual threads from others, also where Java has none. */
public final class VirtualThreads {

	private static final @Nullable MethodHandle IS_VIRTUAL = findIsVirtual();

	private static final long PAUSE_NANOS = TimeUnit.MICROSECONDS.toNanos(20);

	private VirtualThreads() {
	}

	private static @Nullable MethodHandle findIsVirtual() {
		try {
			return MethodHandles.publicLookup()
				.findVirtual(Thread.class, "isVirtual", MethodType.methodType(boolean.class));
		}
		catch (ReflectiveOperationException ex) {
			return null;
		}
	}

	/** Whether a thread is virtual, and so not worth keeping anything for. */
	public static boolean isVirtual(Thread thread) {
		if (IS_VIRTUAL == null) {
			return false;
		}
		try {
			return (boolean) IS_VIRTUAL.invokeExact(thread);
		}
		catch (Throwable ex) {
			throw new IllegalStateException(ex);
		}
	}

	/**
	 * Lets other threads run, for who waits for one of them.
	 *
	 * <p>
	 * A virtual thread that yields is queued with the thread that carries it, which takes
	 * up no thread that others have made runnable while that queue is not empty. So a few
	 * that yield until a lock is free keep its holder from running for ever, and all
	 * virtual threads of the process. One that parks for a moment leaves the queue.
	 * @return whether the thread was interrupted, which it is no more, as it could not
	 * park: to be restored after the wait
	 */
	@SuppressWarnings({ "ThreadPriorityCheck", "UnusedException" }) // others are to run
	static boolean pause() {
		if (!isVirtual(Thread.currentThread())) {
			Thread.yield();
			return false;
		}
		boolean interrupted = Thread.interrupted();
		try {
			LockSupport.parkNanos(PAUSE_NANOS);
		}
		catch (OutOfMemoryError ex) {
			Thread.yield();
		}
		return interrupted;
	}

}
