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

package dev.rdmarpc.rpc;

import java.util.List;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.transport.ChannelLoop;

/** The call that a thread is serving, as calls that its handler makes see it. */
interface ServedCall {

	/** What the handler may know of it. */
	RpcContext context();

	/**
	 * When its caller gives up, by {@link System#nanoTime()}; {@link Long#MAX_VALUE} for
	 * never.
	 */
	long deadlineNanos();

	/** Whether the handler is run by the thread that had a loop of these as it began. */
	default boolean isOn(List<ChannelLoop> loops) {
		return false;
	}

	/** The call that the current thread is serving, or {@code null}. */
	static @Nullable ServedCall current() {
		@Nullable Object[] slot = Slots.OF_THREADS.get();
		return (slot != null) ? (ServedCall) slot[0] : null;
	}

	/**
	 * Has the current thread serve a call.
	 * @return the one it was serving, to be set again afterwards
	 */
	static @Nullable ServedCall current(@Nullable ServedCall call) {
		return replace(slot(), call);
	}

	/** Where the current thread has its call, for {@link #replace}. */
	static @Nullable Object[] slot() {
		@Nullable Object[] slot = Slots.OF_THREADS.get();
		if (slot == null) {
			slot = new Object[1];
			Slots.OF_THREADS.set(slot);
		}
		return slot;
	}

	/**
	 * Like {@link #current(ServedCall)}, without a look for the slot of the thread.
	 * @param slot of the current thread
	 */
	static @Nullable ServedCall replace(@Nullable Object[] slot, @Nullable ServedCall call) {
		Object outer = slot[0];
		slot[0] = call;
		return (ServedCall) outer;
	}

	/** Keeps the thread-local private to this type. */
	final class Slots {

		/** Arrays of one, which keep no class of the application when they are empty. */
		private static final ThreadLocal<@Nullable Object @Nullable []> OF_THREADS = new ThreadLocal<>();

		private Slots() {
		}

	}

}
