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

package dev.rdmarpc.verbs.disni;

/**
 * What stands in the {@code wr_id} of a work request: which slot of which queue it
 * belongs to.
 *
 * <pre>{@code
 *  63 62                          32 31 30                          0
 * +--+-----------------------------+--+-----------------------------+
 * |S | generation, or shared queue |R | slot                        |
 * +--+-----------------------------+--+-----------------------------+
 * }</pre>
 *
 * {@code S} marks a receive of a shared receive queue, {@code R} one of a queue pair. The
 * generation tells the work of a queue pair from that of an earlier one to which the
 * adapter had given the same number.
 */
final class WorkId {

	/** Greatest generation, shared receive queue, and slot. */
	static final int MASK = 0x7FFF_FFFF;

	private static final long RECEIVE = 0x8000_0000L;

	private WorkId() {
	}

	static long send(int generation, int slot) {
		return ((long) generation << 32) | slot;
	}

	static long receive(int generation, int slot) {
		return ((long) generation << 32) | RECEIVE | slot;
	}

	static long shared(int queue, int slot) {
		return Long.MIN_VALUE | ((long) queue << 32) | slot;
	}

	static boolean isShared(long id) {
		return id < 0;
	}

	static boolean isReceive(long id) {
		return (id & RECEIVE) != 0;
	}

	/** The generation, or the number of the shared receive queue. */
	static int owner(long id) {
		return (int) (id >>> 32) & MASK;
	}

	static int slot(long id) {
		return (int) id & MASK;
	}

}
