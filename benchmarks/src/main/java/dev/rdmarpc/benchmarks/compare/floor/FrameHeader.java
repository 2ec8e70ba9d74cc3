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

package dev.rdmarpc.benchmarks.compare.floor;

/**
 * The layout of a frame's header, big-endian; a reply has its request's slot.
 *
 * <pre>
 *  0       4       8       12
 *  +-------+-------+-------+----------------+
 *  | bytes | kind  | slot  | payload        |
 *  +-------+-------+-------+----------------+
 * </pre>
 */
final class FrameHeader {

	/** The payload's size, u32. */
	static final int BYTES_OFFSET = 0;

	/** What the server shall do, u32. */
	static final int KIND_OFFSET = 4;

	/** Which of the client's outstanding calls, u32. */
	static final int SLOT_OFFSET = 8;

	static final int SIZE = 12;

	/** Send the payload back. */
	static final int ECHO = 1;

	/** Drop the payload, send its length back. */
	static final int UPLOAD = 2;

	private FrameHeader() {
	}

}
