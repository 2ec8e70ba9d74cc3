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

import java.util.Locale;

/** How calls are made. */
public enum Mode {

	/** One thread makes one blocking call after the other. */
	SYNC(1, 1),

	/** Many asynchronous calls on one connection. */
	ASYNC(1, 64),

	/** Asynchronous calls on many connections. */
	MULTI(16, 16),

	/** Many threads make one blocking call after the other, on one connection. */
	THREADS(1, 16),

	/** Many threads wait for one call each, which is answered when all is over. */
	WAITING(1, 200),

	/** Messages on one stream, which are echoed on it as fast as both sides can. */
	STREAM(1, 1),

	/** The same beside a stream whose consumer takes one message a second. */
	BESIDE(1, 1);

	private final int connections;

	private final int outstanding;

	Mode(int connections, int outstanding) {
		this.connections = connections;
		this.outstanding = outstanding;
	}

	/** The number of connections. */
	public int connections() {
		return this.connections;
	}

	/** The number of calls kept outstanding on each connection. */
	public int outstanding() {
		return this.outstanding;
	}

	/** Whether the mode says all there is to say with payloads of one, small size. */
	public boolean isForSmallestPayload() {
		return this == THREADS || this == WAITING || isStreaming();
	}

	/** Whether messages of streams are counted in place of calls. */
	public boolean isStreaming() {
		return this == STREAM || this == BESIDE;
	}

	@Override
	public String toString() {
		return name().toLowerCase(Locale.ROOT);
	}

}
