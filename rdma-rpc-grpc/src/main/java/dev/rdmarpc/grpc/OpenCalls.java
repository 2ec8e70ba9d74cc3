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

package dev.rdmarpc.grpc;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.transport.CallShares;

/**
 * How many calls of a server are open, and by default may be.
 *
 * <p>
 * Thread-safe.
 */
final class OpenCalls {

	private static final int FEWEST = 1024;

	private static final int MOST = 16384;

	/** The part of the heap that calls may have by default. */
	private static final int PARTS = 4;

	/** What a call needs beside the values of its headers. */
	private static final int CALL_BYTES = 8192;

	private final CallShares shares;

	OpenCalls(int most) {
		this.shares = new CallShares(most);
	}

	/**
	 * As many as a quarter of the heap has room for if each has all the metadata that are
	 * accepted, but not fewer than {@value #FEWEST} and not more than {@value #MOST}.
	 */
	static int mostIn(long heapBytes, int maxMetadataBytes) {
		long calls = heapBytes / PARTS / ((long) CALL_BYTES + maxMetadataBytes);
		return (int) Math.max(FEWEST, Math.min(MOST, calls));
	}

	/**
	 * Counts another call, to be ended later.
	 * @param own open calls of its connection
	 * @return why it may not begin and is not counted, or {@code null}
	 */
	@Nullable String tryBegin(int own) {
		if (this.shares.tryBegin(own)) {
			return null;
		}
		int most = this.shares.most();
		return (this.shares.count() >= most) ? "too many calls of the server (limit " + most + ")"
				: "too many calls of one connection: " + own + " of the " + most
						+ " that the server has at once, which is its share";
	}

	void end() {
		this.shares.end();
	}

}
