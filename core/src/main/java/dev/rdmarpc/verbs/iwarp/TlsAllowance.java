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

package dev.rdmarpc.verbs.iwarp;

/**
 * How much a peer may say in TLS for its own sake once that is open: a key update takes
 * five bytes, of which a record holds three thousand, and each has keys derived and an
 * answer kept until it leaves. What an honest peer says is a key update of 27 bytes now
 * and then (RFC 8446, section 4.6.3), an alert, or, of a server, its tickets.
 *
 * <p>
 * Implementation notes. A bucket that fills with time; confined to whoever reads.
 */
final class TlsAllowance {

	/** What the least record counts for. */
	static final int LEAST_BYTES = 64;

	/** What clients may say at once: sixteen key updates. */
	static final int OF_CLIENTS = 16 * LEAST_BYTES;

	/** The same of servers, whose tickets may hold a chain of certificates each. */
	static final int OF_SERVERS = 64 * 1024;

	private static final long NANOS_PER_BYTE = 1_000_000_000L / LEAST_BYTES;

	private final long mostNanos;

	/** When all that was said is forgotten; not before any time that was asked for. */
	private long clearNanos;

	/**
	 * Creates a full allowance.
	 * @param bytes what may be said at once; one record of {@value #LEAST_BYTES} bytes
	 * more per second
	 * @param nowNanos {@link System#nanoTime()}
	 */
	TlsAllowance(int bytes, long nowNanos) {
		this.mostNanos = bytes * NANOS_PER_BYTE;
		this.clearNanos = nowNanos;
	}

	/**
	 * The peer has said something.
	 * @param recordBytes length of the record
	 * @param nowNanos {@link System#nanoTime()}
	 * @return whether it may
	 */
	boolean take(int recordBytes, long nowNanos) {
		if (nowNanos - this.clearNanos > 0) {
			this.clearNanos = nowNanos;
		}
		this.clearNanos += Math.max(LEAST_BYTES, recordBytes) * NANOS_PER_BYTE;
		return this.clearNanos - nowNanos <= this.mostNanos;
	}

}
