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

package dev.rdmarpc.verbs.iwarp.rdmap;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.GatheringByteChannel;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.verbs.ProtectionDomain;
import dev.rdmarpc.verbs.WorkOpcode;
import dev.rdmarpc.verbs.iwarp.wire.DdpControl;
import dev.rdmarpc.verbs.iwarp.wire.DdpTaggedFlyweight;
import dev.rdmarpc.verbs.iwarp.wire.DdpUntaggedFlyweight;
import dev.rdmarpc.verbs.iwarp.wire.FpduFlyweight;
import dev.rdmarpc.verbs.iwarp.wire.ReadRequestFlyweight;
import dev.rdmarpc.verbs.iwarp.wire.ReadyToReceive;
import dev.rdmarpc.verbs.support.RegisteredMemory;
import dev.rdmarpc.verbs.support.WorkQueue;

/**
 * The sending half of a stream: cuts send queue requests and Read Responses into FPDUs
 * and writes them. Guarded by the reactor's lock.
 *
 * <p>
 * Implementation notes. The two sources take turns FPDU by FPDU, so that neither a long
 * Send nor a long Read Response delays the other; short Sends go before a response.
 * Segments of one message are never mixed with segments of another of the same kind,
 * tagged or untagged, because receivers such as Linux siw keep one reassembly state per
 * kind. A batch is filled only when the last one is written, so what is posted while the
 * socket is full leaves in few large writes. It is filled in memory that all streams of
 * the reactor share; what the socket leaves of it moves to a block of
 * {@link StagingMemory}. It ends with a Read Response rather than within one, if that is
 * not too long, because what is posted next comes first in the next batch, and the peer
 * expects the response to go on ({@link ReadAhead}).
 *
 * <p>
 * While small messages are not to wait for large ones, a batch is as short as is worth a
 * system call, and a step ends with it, since what is posted meanwhile waits for it. How
 * long a Read Response is then is up to the peer, which asks for short ones.
 */
final class OutboundStream {

	/**
	 * Payload bytes gathered before writing: a message of 1 MiB, with what belongs to it.
	 */
	private static final int FILL_BYTES = (1024 + 64) * 1024;

	/**
	 * As many bytes more at most, so that a Read Response that was begun is not
	 * interrupted.
	 */
	private static final int FINISH_BYTES = 256 * 1024;

	/** Bytes written per stream before others get their turn. */
	private static final int STEP_BYTES = 1024 * 1024;

	/** Both while small messages are not to wait. */
	private static final int SHORT_STEP_BYTES = 64 * 1024;

	/** What the zero-length Write that says ready to receive names. */
	private static final int READY_TO_RECEIVE_STAG = 1;

	private final GatheringByteChannel channel;

	private final ConnectionParameters parameters;

	private final StreamBuffers buffers;

	private final StreamOwner owner;

	private final ProtectionDomain domain;

	private final SendQueue sendQueue;

	private final ReadRequester requester;

	private final ReadResponder responder;

	private final FpduWriter writer;

	private final int copyThreshold;

	private final int maxPieces;

	private @Nullable GatherBatch batch;

	private StagingMemory.@Nullable Block unsent;

	private long unsentSince;

	private boolean heldBack;

	private boolean readyToReceivePending;

	private boolean responderTurn;

	private long filledBytes;

	private long writtenBytes;

	OutboundStream(GatheringByteChannel channel, ConnectionParameters parameters, StreamBuffers buffers,
			StreamOwner owner, ProtectionDomain domain, SendQueue sendQueue, ReadRequester requester,
			ReadResponder responder) {
		this.channel = channel;
		this.parameters = parameters;
		this.buffers = buffers;
		this.owner = owner;
		this.domain = domain;
		this.sendQueue = sendQueue;
		this.requester = requester;
		this.responder = responder;
		this.copyThreshold = buffers.copyThreshold();
		this.maxPieces = this.sendQueue.queue().maxSegments();
		this.writer = new FpduWriter(buffers::copied, parameters.crcEnabled(), this.copyThreshold);
		this.heldBack = !parameters.initiator();
		this.readyToReceivePending = parameters.initiator() && parameters.readyToReceive() == ReadyToReceive.WRITE;
	}

	/** Lets a responder send, because the initiator has sent its first FPDU. */
	void release() {
		this.heldBack = false;
	}

	/** Whether small messages are not to wait for large ones. */
	boolean favorsLatency() {
		return this.sendQueue.favorsLatency();
	}

	/** Stream position up to which the socket has taken the bytes. */
	long writtenBytes() {
		return this.writtenBytes;
	}

	/** Whether the socket was full and bytes are waiting. */
	boolean isBlocked() {
		return this.batch != null;
	}

	/** Whether all that was posted or asked for has left. */
	boolean isIdle() {
		return this.batch == null && this.responder.isEmpty();
	}

	/**
	 * Writes until there is nothing to send, the socket is full or the step is over.
	 * @return whether anything was written
	 */
	boolean flush() throws IOException, ProtocolViolation {
		long before = this.writtenBytes;
		int step = favorsLatency() ? SHORT_STEP_BYTES : STEP_BYTES;
		while (this.writtenBytes - before < step) {
			GatherBatch current = this.batch;
			if (current == null) {
				if (!hasWork()) {
					break;
				}
				current = this.buffers.acquireBatch();
				this.batch = current;
				fill(current);
			}
			else if (!current.isValid()) {
				throw new IOException("memory was deregistered while it was being sent");
			}
			if (!current.isEmpty()) {
				this.writtenBytes += current.write(this.channel);
			}
			if (!current.isEmpty()) {
				keep(current);
				break;
			}
			releaseBatch(current);
		}
		return this.writtenBytes != before;
	}

	/** Moves what the socket does not take out of the memory that all share. */
	private void keep(GatherBatch current) throws ProtocolViolation {
		if (this.unsentSince != 0) {
			return;
		}
		this.unsentSince = this.buffers.nextMoment();
		int staged = current.stagedBytes();
		if (staged > 0) {
			StagingMemory.Block own = this.owner.allocateStaging(staged);
			this.unsent = own;
			current.moveStaged(own.buffer());
		}
	}

	private void releaseBatch(GatherBatch current) {
		StagingMemory.Block own = this.unsent;
		this.batch = null;
		this.unsent = null;
		this.unsentSince = 0;
		if (own != null) {
			own.release();
		}
		this.buffers.releaseBatch(current);
	}

	/** Since when the socket has been full, as a moment of the buffers, or 0. */
	long unsentSince() {
		return (this.unsent != null) ? this.unsentSince : 0;
	}

	/** Whether there is something to send now. */
	boolean hasWork() {
		return !this.heldBack && (this.readyToReceivePending || canSend() || !this.responder.isEmpty());
	}

	private boolean canSend() {
		return this.sendQueue.hasNext()
				&& (this.sendQueue.opcode() != WorkOpcode.READ || this.requester.hasRoom() || this.requester.isEmpty());
	}

	private void fill(GatherBatch target) throws ProtocolViolation {
		if (this.readyToReceivePending) {
			this.readyToReceivePending = false;
			fillReadyToReceive(target);
		}
		int fill = favorsLatency() ? SHORT_STEP_BYTES : FILL_BYTES;
		while (target.remainingBytes() < fill + (this.responder.midMessage() ? FINISH_BYTES : 0)) {
			boolean send = canSend();
			boolean respond = !this.responder.isEmpty();
			if (send && respond && !this.responder.midMessage() && isShortSend()) {
				respond = false;
			}
			else if (send && respond) {
				boolean write = this.sendQueue.opcode() == WorkOpcode.WRITE;
				respond = this.responderTurn ? !(write && this.sendQueue.midMessage())
						: write && this.responder.midMessage();
				send = !respond;
				this.responderTurn = !respond;
			}
			boolean filled = send ? fillFromSendQueue(target) : respond && fillFromResponder(target);
			if (!filled) {
				break;
			}
		}
	}

	private boolean isShortSend() {
		WorkOpcode opcode = this.sendQueue.opcode();
		return opcode != WorkOpcode.WRITE && opcode != WorkOpcode.READ
				&& this.sendQueue.queue().totalBytes(this.sendQueue.next()) <= this.copyThreshold;
	}

	private void fillReadyToReceive(GatherBatch target) {
		int ddp = this.writer.begin(target, DdpTaggedFlyweight.HEADER_BYTES, 0);
		DdpTaggedFlyweight.encode(target.staging(), ddp, true, DdpControl.OPCODE_WRITE, READY_TO_RECEIVE_STAG, 0);
		this.writer.end(target);
		this.filledBytes += FpduFlyweight.totalBytes(DdpTaggedFlyweight.HEADER_BYTES);
	}

	private boolean fillFromSendQueue(GatherBatch target) {
		if (!this.sendQueue.begin(this.domain, this.parameters.readDepth())) {
			return false;
		}
		if (this.sendQueue.opcode() == WorkOpcode.READ) {
			return fillReadRequest(target);
		}
		boolean tagged = this.sendQueue.opcode() == WorkOpcode.WRITE;
		int headerBytes = tagged ? DdpTaggedFlyweight.HEADER_BYTES : DdpUntaggedFlyweight.HEADER_BYTES;
		long remaining = this.sendQueue.remainingBytes();
		int payload = (int) Math.min(remaining, this.parameters.maxUlpduBytes() - headerBytes);
		if (!fits(target, payload, this.maxPieces)) {
			return false;
		}
		int ddp = this.writer.begin(target, headerBytes, payload);
		encodeHeader(target.staging(), ddp, payload == remaining);
		appendPayload(target, payload);
		this.writer.end(target);
		this.filledBytes += FpduFlyweight.totalBytes(headerBytes + payload);
		if (payload == remaining) {
			this.sendQueue.endNext(this.filledBytes);
		}
		return true;
	}

	private boolean fits(GatherBatch target, int payload, int pieces) {
		int copied = (int) Math.min(payload, (long) pieces * this.copyThreshold);
		return target.fits(FpduWriter.MAX_HEADER_BYTES + FpduWriter.MAX_TRAILER_BYTES + copied, pieces);
	}

	private void encodeHeader(ByteBuffer staging, int ddp, boolean last) {
		WorkQueue queue = this.sendQueue.queue();
		long request = this.sendQueue.next();
		if (this.sendQueue.opcode() == WorkOpcode.WRITE) {
			DdpTaggedFlyweight.encode(staging, ddp, last, DdpControl.OPCODE_WRITE, queue.remoteKey(request),
					queue.remoteAddress(request) + this.sendQueue.messageOffset());
			return;
		}
		int opcode = switch (this.sendQueue.opcode()) {
			case SEND_SOLICITED -> DdpControl.OPCODE_SEND_SOLICITED;
			case SEND_WITH_INVALIDATE -> DdpControl.OPCODE_SEND_INVALIDATE;
			default -> DdpControl.OPCODE_SEND;
		};
		int invalidate = (opcode == DdpControl.OPCODE_SEND_INVALIDATE) ? queue.remoteKey(request) : 0;
		DdpUntaggedFlyweight.encode(staging, ddp, last, opcode, invalidate, DdpControl.QUEUE_SEND,
				this.sendQueue.messageSequenceNumber(), (int) this.sendQueue.messageOffset());
	}

	private void appendPayload(GatherBatch target, int payload) {
		WorkQueue queue = this.sendQueue.queue();
		long request = this.sendQueue.next();
		int remaining = payload;
		while (remaining > 0) {
			int segment = this.sendQueue.segment();
			int piece = Math.min(remaining, queue.length(request, segment) - this.sendQueue.segmentOffset());
			RegisteredMemory region = queue.region(request, segment);
			if (piece == 0 || region == null) {
				this.sendQueue.nextSegment();
				continue;
			}
			this.writer.payload(target, region, queue.offset(request, segment) + this.sendQueue.segmentOffset(), piece);
			this.sendQueue.advance(piece);
			remaining -= piece;
		}
	}

	/** One Read Request per local segment, because a sink is one range of one STag. */
	private boolean fillReadRequest(GatherBatch target) {
		if (!this.requester.hasRoom() || !fits(target, 0, 0)) {
			return false;
		}
		WorkQueue queue = this.sendQueue.queue();
		long request = this.sendQueue.next();
		int count = queue.segmentCount(request);
		boolean empty = queue.totalBytes(request) == 0;
		while (!empty && queue.length(request, this.sendQueue.segment()) == 0) {
			this.sendQueue.nextSegment();
		}
		int segment = this.sendQueue.segment();
		RegisteredMemory region = empty ? null : queue.region(request, segment);
		int length = empty ? 0 : queue.length(request, segment);
		int msn = this.requester.add(request, region, empty ? 0 : queue.offset(request, segment), length);
		int ddp = this.writer.begin(target, DdpUntaggedFlyweight.HEADER_BYTES + ReadRequestFlyweight.HEADER_BYTES, 0);
		DdpUntaggedFlyweight.encode(target.staging(), ddp, true, DdpControl.OPCODE_READ_REQUEST, 0,
				DdpControl.QUEUE_READ_REQUEST, msn, 0);
		ReadRequestFlyweight.encode(target.staging(), ddp + DdpUntaggedFlyweight.HEADER_BYTES,
				this.requester.newestSinkStag(), this.requester.newestSinkOffset(), length, queue.remoteKey(request),
				queue.remoteAddress(request) + this.sendQueue.messageOffset());
		this.writer.end(target);
		this.filledBytes += FpduFlyweight
			.totalBytes(DdpUntaggedFlyweight.HEADER_BYTES + ReadRequestFlyweight.HEADER_BYTES);
		this.sendQueue.readBegun();
		if (!empty) {
			this.sendQueue.advance(length);
		}
		if (empty || this.sendQueue.remainingBytes() == 0 || this.sendQueue.segment() == count) {
			this.sendQueue.endNext(this.filledBytes);
		}
		return true;
	}

	private boolean fillFromResponder(GatherBatch target) throws ProtocolViolation {
		this.responder.checkNext();
		int remaining = this.responder.remainingBytes();
		int payload = Math.min(remaining, this.parameters.maxUlpduBytes() - DdpTaggedFlyweight.HEADER_BYTES);
		if (!fits(target, payload, 1)) {
			return false;
		}
		int ddp = this.writer.begin(target, DdpTaggedFlyweight.HEADER_BYTES, payload);
		DdpTaggedFlyweight.encode(target.staging(), ddp, payload == remaining, DdpControl.OPCODE_READ_RESPONSE,
				this.responder.sinkStag(), this.responder.sinkOffset());
		RegisteredMemory region = this.responder.region();
		if (payload > 0 && region != null) {
			this.writer.payload(target, region, this.responder.offset(), payload);
		}
		this.writer.end(target);
		this.filledBytes += FpduFlyweight.totalBytes(DdpTaggedFlyweight.HEADER_BYTES + payload);
		this.responder.sent(payload);
		return true;
	}

	/** Appends an FPDU to an unfinished stream: what is left of it, and a last word. */
	ByteBuffer remainderWith(int lastWordBytes) {
		GatherBatch current = this.batch;
		boolean lost = current != null && !current.isValid();
		int left = (current == null || lost) ? 0 : (int) current.remainingBytes();
		ByteBuffer remainder = ByteBuffer.allocate(left + lastWordBytes);
		if (current != null && !lost) {
			current.copyRemainder(remainder);
		}
		return lost ? remainder.limit(0) : remainder;
	}

	/** Whether memory went away in the middle of being sent. */
	boolean hasLostMemory() {
		GatherBatch current = this.batch;
		return current != null && !current.isValid();
	}

	/** Gives everything back; nothing is sent any more. */
	void close() {
		this.heldBack = true;
		GatherBatch current = this.batch;
		if (current != null) {
			current.reset();
			releaseBatch(current);
		}
	}

}
