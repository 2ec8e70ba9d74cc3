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

/**
 * One row of the comparison, whoever the peer is.
 *
 * @param mode how calls are made
 * @param payloadBytes the size of a request's payload
 */
public record Workload(Mode mode, int payloadBytes) {

	/** The largest payload that is echoed; larger ones are uploaded. */
	public static final int LARGEST_ECHO_BYTES = 4096;

	public Workload {
		if (payloadBytes < Exchange.REPLY_BYTES || payloadBytes > 1 << 24) {
			throw new IllegalArgumentException("payload " + payloadBytes + " (expected: 8 to 16777216 bytes)");
		}
	}

	/** What a call carries in each direction. */
	public Exchange exchange() {
		return (this.payloadBytes <= LARGEST_ECHO_BYTES) ? Exchange.ECHO : Exchange.UPLOAD;
	}

	/** The number of connections. */
	public int connections() {
		return this.mode.connections();
	}

	/** The number of calls kept outstanding on each connection. */
	public int outstanding() {
		return this.mode.outstanding();
	}

	/** The size of a reply's payload. */
	public int replyBytes() {
		return (exchange() == Exchange.ECHO) ? this.payloadBytes : Exchange.REPLY_BYTES;
	}

	@Override
	public String toString() {
		return this.mode + " " + this.payloadBytes;
	}

}
