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

package dev.rdmarpc.verbs;

/**
 * One scatter/gather element as a value.
 *
 * @param region the region it names
 * @param offsetBytes its start within the region
 * @param lengthBytes its length
 */
record Segment(MemoryRegion region, int offsetBytes, int lengthBytes) {

	/** The same bytes as a peer names them. */
	RemoteRegion remote() {
		return this.region.remoteRegion(this.offsetBytes, this.lengthBytes);
	}

	/** Appends all of them to a request. */
	static WorkRequest addAll(WorkRequest request, Segment... segments) {
		for (Segment segment : segments) {
			request.addSegment(segment.region, segment.offsetBytes, segment.lengthBytes);
		}
		return request;
	}

	/** Sum of their lengths. */
	static int total(Segment... segments) {
		int total = 0;
		for (Segment segment : segments) {
			total += segment.lengthBytes;
		}
		return total;
	}

}
