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
 * A reusable description of one work request. The provider reads it before the posting
 * call returns, and it may then be filled again. The memory it names remains in use until
 * its completion.
 *
 * <p>
 * Not thread-safe.
 */
public final class WorkRequest {

	private final MemoryRegion[] regions;

	private final int[] offsets;

	private final int[] lengths;

	private int segmentCount;

	private long id;

	private WorkOpcode opcode = WorkOpcode.SEND;

	private boolean signaled = true;

	private long remoteAddress;

	private int remoteKey;

	/**
	 * Creates an empty request.
	 * @param maxSegments capacity of the scatter/gather list, at least 0
	 */
	public WorkRequest(int maxSegments) {
		this.regions = new MemoryRegion[maxSegments];
		this.offsets = new int[maxSegments];
		this.lengths = new int[maxSegments];
	}

	/** Starts a Send. */
	public WorkRequest send(long id) {
		return begin(id, WorkOpcode.SEND);
	}

	/** Starts a Send with Solicited Event. */
	public WorkRequest sendSolicited(long id) {
		return begin(id, WorkOpcode.SEND_SOLICITED);
	}

	/** Starts a Send that invalidates the peer's region named by {@code remoteKey}. */
	public WorkRequest sendWithInvalidate(long id, int remoteKey) {
		begin(id, WorkOpcode.SEND_WITH_INVALIDATE);
		this.remoteKey = remoteKey;
		return this;
	}

	/** Starts an RDMA Read; the added segments determine its length. */
	public WorkRequest read(long id, long remoteAddress, int remoteKey) {
		begin(id, WorkOpcode.READ);
		this.remoteAddress = remoteAddress;
		this.remoteKey = remoteKey;
		return this;
	}

	/** Starts an RDMA Write. */
	public WorkRequest write(long id, long remoteAddress, int remoteKey) {
		begin(id, WorkOpcode.WRITE);
		this.remoteAddress = remoteAddress;
		this.remoteKey = remoteKey;
		return this;
	}

	/** Starts a receive. */
	public WorkRequest receive(long id) {
		return begin(id, WorkOpcode.RECEIVE);
	}

	/**
	 * Drops the segments, so that no region is kept reachable but the first, which is
	 * mostly that of the next request too: storing a reference in an old object costs a
	 * fence with some garbage collectors.
	 */
	@SuppressWarnings("DataFlowIssue")
	private void dropSegments() {
		for (int i = 1; i < this.segmentCount; i++) {
			this.regions[i] = null;
		}
		this.segmentCount = 0;
	}

	private WorkRequest begin(long id, WorkOpcode opcode) {
		dropSegments();
		this.id = id;
		this.opcode = opcode;
		this.signaled = true;
		this.remoteAddress = 0;
		this.remoteKey = 0;
		return this;
	}

	/**
	 * Asks for no completion when the request succeeds. Its buffers are free once a later
	 * signaled request of the same send queue has completed. Errors always complete.
	 */
	public WorkRequest unsignaled() {
		this.signaled = false;
		return this;
	}

	/**
	 * Appends a scatter/gather element. Bounds are checked by the provider at execution
	 * and reported as {@link WorkStatus#LOCAL_PROTECTION_ERROR}.
	 * @throws VerbsException with {@link VerbsError#LIMIT_EXCEEDED} when the list is full
	 */
	public WorkRequest addSegment(MemoryRegion region, int offsetBytes, int lengthBytes) {
		if (this.segmentCount == this.regions.length) {
			throw new VerbsException(VerbsError.LIMIT_EXCEEDED,
					"work request holds " + this.regions.length + " segments already");
		}
		if (this.regions[this.segmentCount] != region) {
			this.regions[this.segmentCount] = region;
		}
		this.offsets[this.segmentCount] = offsetBytes;
		this.lengths[this.segmentCount] = lengthBytes;
		this.segmentCount++;
		return this;
	}

	/** The caller's name for the request, returned in its completion. */
	public long id() {
		return this.id;
	}

	/** What the request does. */
	public WorkOpcode opcode() {
		return this.opcode;
	}

	/** Whether success produces a completion. */
	public boolean signaled() {
		return this.signaled;
	}

	/** The peer's address, for {@code READ} and {@code WRITE}. */
	public long remoteAddress() {
		return this.remoteAddress;
	}

	/**
	 * The peer's key, for {@code READ}, {@code WRITE} and {@code SEND_WITH_INVALIDATE}.
	 */
	public int remoteKey() {
		return this.remoteKey;
	}

	/** Number of scatter/gather elements. */
	public int segmentCount() {
		return this.segmentCount;
	}

	/** The region of an element. */
	public MemoryRegion segmentRegion(int index) {
		return this.regions[index];
	}

	/** The offset of an element within its region, in bytes. */
	public int segmentOffset(int index) {
		return this.offsets[index];
	}

	/** The length of an element, in bytes. */
	public int segmentLength(int index) {
		return this.lengths[index];
	}

	/** Sum of the elements' lengths, in bytes. */
	public long totalBytes() {
		long total = 0;
		for (int i = 0; i < this.segmentCount; i++) {
			total += this.lengths[i];
		}
		return total;
	}

}
