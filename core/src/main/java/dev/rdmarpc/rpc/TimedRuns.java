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

/**
 * Which runs of users' code are timed while it is quick, since a look at the clock takes
 * as long as some of it: one in eight on average, at random, since kinds of runs may
 * alternate. Threads may use it without any order between them.
 */
final class TimedRuns {

	/** A power of two, as a shift. */
	private static final int SHIFT = 3;

	private int random;

	/** Whether the next run is one of them. */
	boolean next() {
		this.random = this.random * 1_664_525 + 1_013_904_223;
		return this.random >>> (Integer.SIZE - SHIFT) == 0;
	}

}
