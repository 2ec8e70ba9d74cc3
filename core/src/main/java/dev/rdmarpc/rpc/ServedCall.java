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

import org.jspecify.annotations.Nullable;

/** The call that a thread is serving, as calls that its handler makes see it. */
interface ServedCall {

	/** What the handler may know of it. */
	RpcContext context();

	/**
	 * When its caller gives up, by {@link System#nanoTime()}; {@link Long#MAX_VALUE} for
	 * never.
	 */
	long deadlineNanos();

	/** The call that the current thread is serving, or {@code null}. */
	static @Nullable ServedCall current() {
		return Holder.CURRENT.get();
	}

	/**
	 * Has the current thread serve a call.
	 * @return the one it was serving, to be set again afterwards
	 */
	static @Nullable ServedCall current(@Nullable ServedCall call) {
		ServedCall outer = Holder.CURRENT.get();
		Holder.CURRENT.set(call);
		return outer;
	}

	/** Keeps the thread-local private to this type. */
	final class Holder {

		private static final ThreadLocal<@Nullable ServedCall> CURRENT = new ThreadLocal<>();

		private Holder() {
		}

	}

}
