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

import java.util.concurrent.atomic.LongAdder;

/**
 * What has happened to the queue pairs of one client, of which those to one address are
 * watched. Thread-safe.
 */
final class PoolCounters {

	final LongAdder connects;

	final LongAdder growths;

	final LongAdder shrinks;

	final LongAdder losses;

	final LongAdder repetitions;

	final AddressWatch watch;

	/** Counters of a client with one address. */
	PoolCounters() {
		this.connects = new LongAdder();
		this.growths = new LongAdder();
		this.shrinks = new LongAdder();
		this.losses = new LongAdder();
		this.repetitions = new LongAdder();
		this.watch = AddressWatch.NONE;
	}

	/** Those of a client, for one of its addresses. */
	PoolCounters(PoolCounters all, AddressWatch watch) {
		this.connects = all.connects;
		this.growths = all.growths;
		this.shrinks = all.shrinks;
		this.losses = all.losses;
		this.repetitions = all.repetitions;
		this.watch = watch;
	}

	/** A connection was established. */
	void connected() {
		this.connects.increment();
		this.watch.connected();
	}

	/**
	 * A connection was lost.
	 * @param orderly whether the peer has said goodbye
	 */
	void lost(boolean orderly) {
		this.losses.increment();
		this.watch.lost(orderly);
	}

}
