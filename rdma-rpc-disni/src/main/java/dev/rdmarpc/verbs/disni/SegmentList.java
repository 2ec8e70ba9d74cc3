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

import java.io.IOException;
import java.util.Arrays;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.verbs.WorkOpcode;
import dev.rdmarpc.verbs.WorkRequest;
import dev.rdmarpc.verbs.WorkStatus;

/**
 * The scatter/gather list of one work request as the adapter takes it, without empty
 * segments. Reused from request to request.
 *
 * <p>
 * Not thread-safe.
 */
final class SegmentList {

	private long[] addresses;

	private int[] lengths;

	private int[] keys;

	private @Nullable DisniMemoryRegion[] sinkRegions;

	private @Nullable ReadSink sinks;

	private int count;

	SegmentList(int maxSegments) {
		this.addresses = new long[maxSegments];
		this.lengths = new int[maxSegments];
		this.keys = new int[maxSegments];
		this.sinkRegions = new DisniMemoryRegion[maxSegments];
	}

	int count() {
		return this.count;
	}

	long address(int index) {
		return this.addresses[index];
	}

	int lengthBytes(int index) {
		return this.lengths[index];
	}

	int key(int index) {
		return this.keys[index];
	}

	/** Forgets all segments. */
	SegmentList clear() {
		Arrays.fill(this.sinkRegions, 0, this.count, null);
		this.count = 0;
		return this;
	}

	void add(long address, int lengthBytes, int key) {
		this.addresses[this.count] = address;
		this.lengths[this.count] = lengthBytes;
		this.keys[this.count] = key;
		this.count++;
	}

	/** One segment that no key names: a receive with it fails when a message takes it. */
	void setUseless() {
		clear();
		if (this.addresses.length == 0) {
			return;
		}
		add(0, 1, 0);
	}

	/**
	 * Takes the segments of a request, if each lies within a region of the domain that
	 * permits what is to be done with it.
	 * @return {@code null}, or how the request ends
	 */
	@Nullable WorkStatus take(WorkRequest request, AdapterDomain domain) {
		clear();
		boolean filled = request.opcode() == WorkOpcode.RECEIVE || request.opcode() == WorkOpcode.READ;
		for (int i = 0; i < request.segmentCount(); i++) {
			int offset = request.segmentOffset(i);
			int length = request.segmentLength(i);
			if (!(request.segmentRegion(i) instanceof DisniMemoryRegion region)
					|| !region.permits(domain, offset, length, filled)) {
				return WorkStatus.LOCAL_PROTECTION_ERROR;
			}
			if (length > 0) {
				boolean sink = request.opcode() == WorkOpcode.READ && region.ownReadSinks();
				this.sinkRegions[this.count] = sink ? region : null;
				add(region.address() + offset, length, region.localKey());
			}
		}
		return (request.totalBytes() > domain.attributes().maxMessageBytes()) ? WorkStatus.LOCAL_LENGTH_ERROR : null;
	}

	/**
	 * Opens the sinks of a Read that needs some, which {@link #takeSinks()} hands over.
	 * @throws IOException if one cannot be opened; none is open then
	 */
	void openSinks() throws IOException {
		for (int i = 0; i < this.count; i++) {
			DisniMemoryRegion region = this.sinkRegions[i];
			if (region != null) {
				try {
					this.sinks = region.openReadSink(this.addresses[i], this.lengths[i]).followedBy(this.sinks);
					this.keys[i] = this.sinks.key();
				}
				catch (IOException ex) {
					ReadSink opened = takeSinks();
					if (opened != null) {
						opened.close();
					}
					throw ex;
				}
			}
		}
	}

	/** Gives the segments their sinks, which are open. */
	void sinks(ReadSink opened) {
		this.sinks = opened;
	}

	/** The open sinks of a Read, owned by the caller; {@code null} if it needs none. */
	@Nullable ReadSink takeSinks() {
		ReadSink opened = this.sinks;
		this.sinks = null;
		return opened;
	}

}
