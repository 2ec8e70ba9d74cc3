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

package dev.rdmarpc.verbs.shm.ring;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.verbs.WorkStatus;
import dev.rdmarpc.verbs.support.PostedReceive;
import dev.rdmarpc.verbs.support.ReceiveSource;
import dev.rdmarpc.verbs.support.RegisteredMemory;

/**
 * One side of an established connection: executes what is posted to the send queue and
 * serves what the peer asks for.
 *
 * <p>
 * Not thread-safe: guarded by the lock of the completion queue. A fault in the mapped
 * memory is an {@link InternalError} from any method; the owner then ends the connection.
 *
 * <p>
 * Implementation notes. Nothing here waits. What finds no room in the ring, or in the
 * completion queue, goes on with a later step. Consuming never depends on room in the
 * outbound ring, so two full rings cannot block each other: the Reads that a peer may
 * have outstanding are bounded and kept aside. When a Send has come, neither what is to
 * come of answers to Reads nor answers of this side are copied before it can be polled:
 * that takes as long as many small messages do. They go on with the next step. For the
 * same reason a step ends after {@value #STEP_BYTES} bytes, however large the rings are.
 */
public final class Link {

	/** Codes of what ends a connection; their order is part of the protocol. */
	private static final WorkStatus[] STATUSES = { WorkStatus.FLUSHED, WorkStatus.REMOTE_INVALID_REQUEST,
			WorkStatus.REMOTE_ACCESS_ERROR, WorkStatus.REMOTE_OPERATION_ERROR, WorkStatus.CONNECTION_LOST };

	private static final int PUBLISH_BYTES = 8 * 1024;

	/** So much is consumed in a step, and so much of answers is written, about. */
	private static final int STEP_BYTES = 256 * 1024;

	private static final int PAGE_BYTES = 4096;

	private final SharedMemory memory;

	private final InboundRing inbound;

	private final OutboundRing outbound;

	private final PeerAccess access;

	private final SendQueue sends;

	private final LinkOwner owner;

	private final RequestSender sender;

	private final ReadRequester requester;

	private final ReadResponder responder;

	private final SendReceiver receiver;

	private long copiedBytes;

	private boolean moved;

	private boolean peerEnded;

	/** Whether the last step has left answers to the next one. */
	private boolean yielded;

	/**
	 * Whether the last step has written as many answers as it may, and there are more.
	 */
	private boolean postponed;

	/**
	 * Creates a link on memory that both sides have mapped.
	 * @param readDepth how many Reads of this side are outstanding at most
	 * @param responderResources how many Reads of the peer are served at once
	 */
	public Link(SharedMemory memory, int readDepth, int responderResources, PeerAccess access, SendQueue sends,
			ReceiveSource receives, LinkOwner owner) {
		this.memory = memory;
		this.inbound = new InboundRing(memory);
		this.outbound = new OutboundRing(memory);
		this.access = access;
		this.sends = sends;
		this.owner = owner;
		PieceSize pieces = PieceSize.of(memory.ringBytes());
		this.requester = new ReadRequester(sends, access, readDepth);
		this.sender = new RequestSender(sends, access, this.outbound, pieces, this.requester);
		this.responder = new ReadResponder(access, this.outbound, pieces, responderResources);
		this.receiver = new SendReceiver(owner, access, receives);
	}

	/** Has Reads of what the peer shows there executed by this side alone. */
	public void readFrom(PeerWindows windows) {
		this.sender.readFrom(windows);
	}

	/** Consumes what the peer has published, then writes what is to be written. */
	public void advance() throws LinkFailure {
		long before = this.receiver.messages();
		consume();
		this.yielded = !this.yielded && this.receiver.messages() != before && !this.responder.isEmpty();
		if (!this.yielded) {
			flush();
		}
		if (this.memory.peerHasEnded() && isConsumed() && !this.peerEnded) {
			this.peerEnded = true;
			tellEnd();
		}
	}

	private void consume() throws LinkFailure {
		if (!this.inbound.hasRecord()) {
			wakeIf(this.inbound.publish());
			return;
		}
		long before = this.receiver.messages();
		long consumed = 0;
		while (consumed < STEP_BYTES && !this.responder.isRefusing() && !lingers(before) && this.inbound.hasRecord()) {
			this.inbound.open();
			if (!tryDispatch()) {
				return;
			}
			consumed += RingDescriptor.HEADER_BYTES + work();
			wakeIf(this.inbound.release());
			this.moved = true;
		}
	}

	/** What the open record counts for in its step: one that is skipped a page. */
	private int work() {
		int payload = this.inbound.payloadBytes();
		return (this.inbound.kind() == RingDescriptor.PADDING) ? Math.min(payload, PAGE_BYTES) : payload;
	}

	/** Whether a message that has come would wait for answers that are to come. */
	private boolean lingers(long messagesBefore) {
		return this.receiver.messages() != messagesBefore && !this.requester.isEmpty();
	}

	private boolean tryDispatch() throws LinkFailure {
		switch (this.inbound.kind()) {
			case RingDescriptor.SEND -> {
				if (!this.receiver.tryPlace(this.inbound)) {
					return false;
				}
				this.copiedBytes += this.inbound.payloadBytes();
			}
			case RingDescriptor.WRITE -> write();
			case RingDescriptor.READ_REQUEST -> this.responder.add(this.inbound);
			case RingDescriptor.READ_RESPONSE -> {
				this.requester.place(this.inbound);
				this.copiedBytes += this.inbound.payloadBytes();
			}
			case RingDescriptor.PADDING -> {
				// nothing but a way to the end of the ring
			}
			default -> throw LinkFailure.ofNonsense("record of kind " + this.inbound.kind());
		}
		return true;
	}

	private void write() throws LinkFailure {
		int length = this.inbound.payloadBytes();
		long address = this.inbound.address();
		RegisteredMemory region = this.access.check(this.inbound.key(), address, length, true, this.inbound.sequence());
		region.memory().put(region.offsetOf(address), this.inbound.bytes(), this.inbound.payloadIndex(), length);
		this.copiedBytes += length;
	}

	/**
	 * Writes what is to be written, as far as there is room, and of answers as much as a
	 * step may.
	 */
	public void flush() throws LinkFailure {
		boolean written;
		long before = this.outbound.writtenBytes();
		long directBefore = this.sender.directBytes();
		try {
			do {
				this.postponed = this.outbound.writtenBytes() - before > STEP_BYTES && !this.responder.isEmpty();
				boolean answered = !this.postponed && this.responder.tryWrite();
				boolean enough = this.sender.directBytes() - directBefore >= STEP_BYTES && this.sends.hasNext();
				this.postponed |= enough;
				written = (!enough && this.sender.tryWrite()) || answered;
				if (this.outbound.unpublishedBytes() > PUBLISH_BYTES) {
					publish();
				}
			}
			while (written);
		}
		finally {
			publish();
			countDirect(this.sender.directBytes() - directBefore);
		}
	}

	private void countDirect(long bytes) {
		this.copiedBytes += bytes;
		this.moved |= bytes > 0;
	}

	private void publish() {
		int bytes = this.outbound.unpublishedBytes();
		if (bytes > 0) {
			this.copiedBytes += bytes;
			this.moved = true;
			wakeIf(this.outbound.publish());
		}
	}

	private void wakeIf(boolean asleep) {
		if (asleep) {
			this.owner.wakePeer();
		}
	}

	private void tellEnd() {
		int code = this.memory.peerStatus();
		WorkStatus status = (code >= 0 && code < STATUSES.length) ? STATUSES[code] : WorkStatus.CONNECTION_LOST;
		if (status != WorkStatus.FLUSHED) {
			this.sends.failAt(this.memory.peerFailedSequence(), status);
		}
		this.owner.peerEnded(status, this.memory.peerDetail());
	}

	/** Whether something waits for room in the outbound ring. */
	public boolean isStalled() {
		return this.sender.isStalled() || this.responder.isStalled();
	}

	/** Whether this side has something to write that waits for nothing. */
	public boolean isPostponed() {
		return this.yielded || this.postponed;
	}

	/** Whether no Read of the peer waits for an answer. */
	public boolean isIdle() {
		return this.responder.isEmpty();
	}

	/**
	 * Whether all that the peer has published is consumed. Nothing behind a refused Read
	 * counts.
	 */
	public boolean isConsumed() throws LinkFailure {
		return this.responder.isRefusing() || !this.inbound.look();
	}

	/** Whether bytes have moved since the last time. */
	public boolean takeMoved() {
		boolean taken = this.moved;
		this.moved = false;
		return taken;
	}

	/** Payload bytes copied by this side, and the headers of what it has written. */
	public long copiedBytes() {
		return this.copiedBytes;
	}

	/** The receive that an unfinished message occupies, or {@code null}. */
	public @Nullable PostedReceive unfinishedReceive() {
		return this.receiver.unfinished();
	}

	/**
	 * Asks the peer to wake this side when it publishes something.
	 * @return false if there is something to do at once
	 */
	public boolean tryFallAsleep() throws LinkFailure {
		wakeIf(this.inbound.publish());
		boolean stalled = isStalled();
		this.memory.fallAsleep(stalled ? RingDescriptor.ASLEEP_FOR_ROOM : RingDescriptor.ASLEEP_FOR_DATA);
		return !isPostponed() && isConsumed() && !this.memory.peerHasEnded()
				&& !(stalled && this.outbound.hasMoreRoom());
	}

	/** Tells the peer that the connection ends in order. */
	public void disconnect() {
		this.memory.end(code(WorkStatus.FLUSHED), 0, "disconnected");
	}

	/** Tells the peer why the connection ends. */
	public void end(LinkFailure failure) {
		this.memory.end(code(failure.told()), failure.sequence(), String.valueOf(failure.getMessage()));
	}

	/** Tells the peer that this side has failed. */
	public void abort(String detail) {
		this.memory.end(code(WorkStatus.CONNECTION_LOST), 0, detail);
	}

	/**
	 * Notes that this side does not use the memory any more; whether the peer has too.
	 */
	public boolean leave() {
		return this.memory.leave();
	}

	private static int code(WorkStatus status) {
		for (int i = 0; i < STATUSES.length; i++) {
			if (STATUSES[i] == status) {
				return i;
			}
		}
		return STATUSES.length - 1;
	}

}
