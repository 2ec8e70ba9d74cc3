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

package dev.rdmarpc.benchmarks.compare;

import java.util.Arrays;

/**
 * One row of the comparison, whoever the peer is.
 *
 * @param mode how calls are made
 * @param payloadBytes the size of a request's payload
 */
public record Workload(Mode mode, int payloadBytes) {

	/** The largest payload that is echoed; larger ones are uploaded. */
	public static final int LARGEST_ECHO_BYTES = 4096;

	/** The largest payload. */
	public static final int LARGEST_PAYLOAD_BYTES = 64 << 20;

	/** What the calls outstanding carry together at most, unless one alone is more. */
	private static final int MOST_OUTSTANDING_BYTES = 256 << 20;

	public Workload {
		if (payloadBytes < Exchange.REPLY_BYTES || payloadBytes > LARGEST_PAYLOAD_BYTES) {
			throw new IllegalArgumentException("payload " + payloadBytes + " (expected: " + Exchange.REPLY_BYTES
					+ " to " + LARGEST_PAYLOAD_BYTES + " bytes)");
		}
	}

	/** What a call carries in each direction. */
	public Exchange exchange() {
		return (this.payloadBytes <= LARGEST_ECHO_BYTES) ? Exchange.ECHO : Exchange.UPLOAD;
	}

	/** Whether calls are answered with their payload. */
	public boolean isEcho() {
		return exchange() == Exchange.ECHO;
	}

	/** The number of connections. */
	public int connections() {
		return this.mode.connections();
	}

	/**
	 * The number of calls kept outstanding on each connection: as the mode says, less for
	 * payloads that would not fit the memory of the processes.
	 */
	public int outstanding() {
		int most = MOST_OUTSTANDING_BYTES / this.payloadBytes / this.mode.connections();
		return Math.max(1, Math.min(this.mode.outstanding(), most));
	}

	/** A payload. */
	public byte[] payload() {
		byte[] payload = new byte[this.payloadBytes];
		Arrays.fill(payload, (byte) 'x');
		return payload;
	}

	/** The size of a reply's payload. */
	public int replyBytes() {
		return isEcho() ? this.payloadBytes : Exchange.REPLY_BYTES;
	}

	@Override
	public String toString() {
		return this.mode + " " + this.payloadBytes;
	}

}
