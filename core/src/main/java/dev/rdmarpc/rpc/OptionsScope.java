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

/**
 * The options of all calls that a thread makes.
 *
 * <p>
 * Implementation notes. Calls look up the thread's options only once any thread has set
 * some. The flag is not volatile: a thread that has set options sees that it has.
 */
final class OptionsScope {

	private static final ThreadLocal<@Nullable CallOptions> CURRENT = new ThreadLocal<>();

	private static boolean used;

	private OptionsScope() {
	}

	/**
	 * Has the calls of the current thread use options, too.
	 * @return what they used before, to be restored by {@link #leave}
	 */
	static @Nullable CallOptions enter(CallOptions options) {
		used = true;
		CallOptions outer = CURRENT.get();
		CURRENT.set((outer != null) ? options.or(outer) : options);
		return outer;
	}

	/** Restores what {@link #enter} returned. */
	static void leave(@Nullable CallOptions outer) {
		if (outer != null) {
			CURRENT.set(outer);
		}
		else {
			CURRENT.remove();
		}
	}

	/** The options of the current thread's calls, or {@code null} if it has none. */
	static @Nullable CallOptions current() {
		return used ? CURRENT.get() : null;
	}

	/** What a call with options of its own uses. */
	static CallOptions around(CallOptions own) {
		CallOptions current = current();
		return (current != null) ? own.or(current) : own;
	}

}
