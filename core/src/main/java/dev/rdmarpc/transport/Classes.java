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

package dev.rdmarpc.transport;

/**
 * The classes in which messages are ordered: the codes of priorities as they are on the
 * wire. What is more urgent goes first, but what waits is passed a bounded number of
 * times only.
 */
public final class Classes {

	/** How many there are. */
	public static final int COUNT = 3;

	/** How often something may be passed by what is more urgent, by its own class. */
	private static final int[] MOST_PASSES = { 32, 8, Integer.MAX_VALUE };

	private Classes() {
	}

	/** The class of a code from the wire; codes of newer peers count as the highest. */
	public static int of(int code) {
		return Math.min(code & 0xFF, COUNT - 1);
	}

	/**
	 * Whether it is the turn of something that was passed so often.
	 * @param priority its class
	 */
	public static boolean isDue(int priority, int passes) {
		return passes >= MOST_PASSES[priority];
	}

}
