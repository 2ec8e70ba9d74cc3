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

import java.util.Arrays;

/**
 * How many bytes on their way keep a connection busy: the product of bandwidth and delay.
 * The bandwidth is the greatest of the last deliveries, the delay the least of the last
 * ones that had nothing ahead of them. Confined to the loop's driver.
 *
 * <p>
 * Implementation notes. A connection that is busy has no such delivery, so who uses this
 * lets it run empty now and then ({@link #isStale}), which costs a round trip. A delay
 * measured so includes what was sent itself, and what is too little makes the next window
 * larger: what is measured with it is at least its size, of which the next one is a
 * multiple.
 */
final class BusyBytes {

	private static final int SAMPLES = 8;

	/**
	 * For how long deliveries are counted at least that are one sample of the bandwidth,
	 * unless nothing is left to be delivered.
	 */
	private static final long RATE_NANOS = 2_000_000;

	/** The same in times of the delay, so that it is more than a window. */
	private static final int RATE_DELAYS = 2;

	/** How often the delay is measured at most, and in how many times the delay. */
	private static final long PROBE_NANOS = 100_000_000;

	private static final int PROBE_DELAYS = 64;

	private final double[] rates = new double[SAMPLES];

	private final long[] delays = new long[SAMPLES];

	private int nextRate;

	private int nextDelay;

	private long deliveredBytes;

	private long deliveringSince;

	/** When something left that had nothing ahead of it, until that is delivered. */
	private long probeBegun;

	private boolean probing;

	private long probedNanos;

	private long bytes;

	BusyBytes() {
		Arrays.fill(this.delays, Long.MAX_VALUE);
	}

	/** What keeps the connection busy, 0 if that is not known. */
	long bytes() {
		return this.bytes;
	}

	/** Something leaves that has nothing ahead of it. */
	void begin(long nowNanos) {
		restart(nowNanos);
		this.probeBegun = nowNanos;
		this.probing = true;
	}

	/** What was not delivered yet is not to be measured. */
	void restart(long nowNanos) {
		this.probing = false;
		this.deliveringSince = nowNanos;
		this.deliveredBytes = 0;
	}

	/** Whether what was sent first, with nothing ahead of it, has not been delivered. */
	boolean isProbing() {
		return this.probing;
	}

	/**
	 * What was sent next has been delivered.
	 * @param last whether nothing is left to be delivered
	 */
	void delivered(long delivered, boolean last, long nowNanos) {
		this.deliveredBytes += delivered;
		if (this.probing) {
			this.probing = false;
			this.probedNanos = nowNanos;
			this.delays[this.nextDelay] = Math.max(1, nowNanos - this.probeBegun);
			this.nextDelay = (this.nextDelay + 1) % SAMPLES;
			measured();
		}
		long nanos = nowNanos - this.deliveringSince;
		boolean whole = last || nanos >= Math.max(RATE_NANOS, RATE_DELAYS * delayNanos());
		if (nanos > 0 && whole) {
			this.rates[this.nextRate] = (double) this.deliveredBytes / nanos;
			this.nextRate = (this.nextRate + 1) % SAMPLES;
			this.deliveringSince = nowNanos;
			this.deliveredBytes = 0;
			measured();
		}
	}

	private void measured() {
		double rate = 0;
		for (double sample : this.rates) {
			rate = Math.max(rate, sample);
		}
		this.bytes = (long) Math.min(Integer.MAX_VALUE, rate * delayNanos());
	}

	/** Whether the delay has not been measured for too long to be relied on. */
	boolean isStale(long nowNanos) {
		return nowNanos - this.probedNanos > Math.max(PROBE_NANOS, PROBE_DELAYS * delayNanos());
	}

	/** The least of the last ones, 0 if none is known. */
	private long delayNanos() {
		long least = Long.MAX_VALUE;
		for (long delay : this.delays) {
			least = Math.min(least, delay);
		}
		return (least == Long.MAX_VALUE) ? 0 : Math.min(least, Long.MAX_VALUE / PROBE_DELAYS);
	}

}
