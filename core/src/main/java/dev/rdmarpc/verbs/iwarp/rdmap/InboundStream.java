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

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ScatteringByteChannel;
import java.util.Arrays;
import java.util.zip.CRC32C;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.verbs.iwarp.wire.DdpControl;
import dev.rdmarpc.verbs.iwarp.wire.DdpTaggedFlyweight;
import dev.rdmarpc.verbs.iwarp.wire.DdpUntaggedFlyweight;
import dev.rdmarpc.verbs.iwarp.wire.FpduFlyweight;
import dev.rdmarpc.verbs.iwarp.wire.ReadRequestFlyweight;
import dev.rdmarpc.verbs.iwarp.wire.TerminateError;

/**
 * The receiving half of a stream: finds the FPDUs in the byte stream, checks them and has
 * them placed and delivered. Guarded by the reactor's lock.
 *
 * <p>
 * Implementation notes. Bytes are read into a staging buffer that all streams of the
 * reactor share. What is left of an incomplete FPDU is kept in a block of
 * {@link StagingMemory} that is as long as what has arrived, not as what is announced,
 * and goes back to the staging buffer in front of what the next read finds. When an FPDU
 * is long or its rest is, and its payload may be placed before the CRC is known, the
 * stream changes to {@code PAYLOAD}: the next reads go straight to the payload's place,
 * with a short tail buffer behind for the trailer and the next header, or with
 * {@link ReadAhead} between the two. {@code TRAILER} waits for pad and CRC after such a
 * payload. Where long payloads are expected, no more is read to a buffer than one FPDU's
 * rest or the header of the next one, because whatever is read there must be copied. No
 * FPDU is begun while the completion queue has no room, nor between a refused Read
 * Request and its Terminate; it waits in the buffer. So does what is left when a step has
 * had its share of FPDUs that cost the peer next to nothing: they take no receive, so no
 * credit bounds them, and a step of bytes may hold thousands of them. When a Send has
 * come, what is to come of Read Responses is left in the socket until the Send has been
 * polled: moving that takes as long as many small messages do.
 */
final class InboundStream {

	/** Bytes read per stream before others get their turn. */
	private static final int STEP_BYTES = 512 * 1024;

	/** The same while small messages are not to wait. */
	private static final int SHORT_STEP_BYTES = 64 * 1024;

	/**
	 * FPDUs with little in them that complete nothing, handled per stream before others
	 * get their turn.
	 */
	private static final int MOST_LITTLE = 64;

	/** What has less payload has little in it. */
	private static final int LITTLE_BYTES = 256;

	/**
	 * What is kept of an FPDU at most whose payload may be placed before it is complete,
	 * unless only pad and CRC are missing.
	 */
	private static final int MOST_KEPT_BYTES = 8 * 1024;

	/** What is read behind a payload, or first where a long payload is expected. */
	private static final int TAIL_BYTES = 256;

	private final ScatteringByteChannel channel;

	private final StreamBuffers buffers;

	private final StreamOwner owner;

	private final InboundDispatcher dispatcher;

	private final SendReceiver sends;

	private final Placement placement;

	private final ReadRequester requester;

	private final ReadResponder responder;

	private final OutboundStream outbound;

	private final boolean crcEnabled;

	private final int directBytes;

	private final CRC32C crc = new CRC32C();

	private final byte[] header = new byte[FpduWriter.MAX_HEADER_BYTES];

	private int headerBytes;

	private int segmentBytes;

	private State state = State.HEADER;

	private StagingMemory.@Nullable Block partial;

	private int partialOffset;

	private int partialBytes;

	private int partialNeeded;

	private long partialSince;

	private long partialFrame;

	private int payloadRemaining;

	private int trailerBytes;

	private boolean expectsLarge;

	private boolean stalled;

	private int askedBytes;

	private int little;

	private long frames;

	private boolean closed;

	InboundStream(ScatteringByteChannel channel, StreamBuffers buffers, StreamOwner owner, InboundDispatcher dispatcher,
			SendReceiver sends, ReadRequester requester, ReadResponder responder, OutboundStream outbound,
			boolean crcEnabled) {
		this.channel = channel;
		this.buffers = buffers;
		this.owner = owner;
		this.dispatcher = dispatcher;
		this.sends = sends;
		this.placement = dispatcher.placement();
		this.requester = requester;
		this.responder = responder;
		this.outbound = outbound;
		this.crcEnabled = crcEnabled;
		this.directBytes = buffers.directBytes();
	}

	/** Whether complete FPDUs wait for room in the completion queue. */
	boolean isStalled() {
		return this.stalled;
	}

	/** How many FPDUs have arrived whole. */
	long frames() {
		return this.frames;
	}

	/** Whether the rest of an FPDU is all that is waited for. */
	boolean awaitsRest() {
		return !atBoundary() && !this.stalled && mayBegin();
	}

	/**
	 * Reads and handles what is there, up to a bound.
	 * @return whether anything was read
	 * @throws EOFException if the peer has closed its half of the stream
	 */
	boolean advance() throws IOException, ProtocolViolation {
		this.little = 0;
		if (this.stalled) {
			resume();
		}
		int before = this.sends.messages();
		int total = 0;
		int step = this.outbound.favorsLatency() ? SHORT_STEP_BYTES : STEP_BYTES;
		while (total < step && mayBeginHere() && !this.stalled && !this.closed && !lingers(before)) {
			long read = (this.state == State.PAYLOAD) ? readPayload() : readFrames();
			if (read < 0) {
				throw new EOFException(atBoundary() ? "closed by the peer" : "closed by the peer within a frame");
			}
			total += (int) read;
			if (read < this.askedBytes) {
				break;
			}
		}
		return total > 0;
	}

	/** Whether a message that has come would wait for payload that is to come. */
	private boolean lingers(int messagesBefore) {
		return this.sends.messages() != messagesBefore && !this.requester.isEmpty();
	}

	/** Whether another FPDU may begin, also as far as this step is concerned. */
	private boolean mayBeginHere() {
		return this.little < MOST_LITTLE && mayBegin();
	}

	private boolean mayBegin() {
		return this.owner.hasRoom() && !this.responder.hasRefused();
	}

	/** Whether the stream is between two FPDUs. */
	boolean atBoundary() {
		return this.state == State.HEADER && this.partialBytes == 0;
	}

	private int readFrames() throws IOException, ProtocolViolation {
		boolean small = this.expectsLarge || this.requester.expectsBytes(this.directBytes);
		int kept = this.partialBytes;
		ByteBuffer in = this.buffers.inbound();
		int whole = (kept > 0) ? this.partialNeeded + TAIL_BYTES : TAIL_BYTES;
		int most = Math.max(whole, this.buffers.mostInboundBytes());
		in.limit(Math.min(small ? whole : most, in.capacity())).position(kept);
		this.askedBytes = Math.max(1, in.remaining());
		int read = this.channel.read(in);
		if (read > 0) {
			takePartial(in);
			parse(in, 0, kept + read);
		}
		return read;
	}

	/** Puts what was kept to where it came from. */
	private void takePartial(ByteBuffer in) {
		StagingMemory.Block own = this.partial;
		if (own != null) {
			in.put(0, own.buffer(), this.partialOffset, this.partialBytes);
			this.buffers.copied(this.partialBytes);
		}
	}

	private long readPayload() throws IOException, ProtocolViolation {
		if (!this.placement.isValid()) {
			throw this.dispatcher.placementLost();
		}
		ByteBuffer tail = this.buffers.inbound();
		tail.limit(TAIL_BYTES).position(0);
		ReadAhead ahead = this.buffers.readAhead();
		try {
			if (this.dispatcher.isReadResponse()) {
				ahead.expect(this.requester, this.trailerBytes);
			}
			this.askedBytes = this.payloadRemaining + ahead.bytes() + TAIL_BYTES;
			long read = this.placement.read(this.channel, ahead.vectors(tail), ahead.vectorCount());
			int placed = (int) Math.min(read, this.payloadRemaining);
			if (placed > 0) {
				this.payloadRemaining -= placed;
				if (this.payloadRemaining == 0) {
					this.state = State.TRAILER;
					handleAhead(ahead, (int) read - placed, tail);
				}
			}
			return read;
		}
		finally {
			ahead.clear();
		}
	}

	/** Handles what was read behind a payload. */
	private void handleAhead(ReadAhead ahead, int bytes, ByteBuffer tail) throws ProtocolViolation {
		int left = bytes;
		for (int i = 0; i < ahead.count(); i++) {
			ByteBuffer gap = ahead.gap(i);
			if (left < ahead.gapBytes(i)) {
				parse(gap, 0, left);
				return;
			}
			gap.clear();
			endPayload(gap, 0);
			left -= ahead.gapBytes(i);
			if (this.closed) {
				return;
			}
			if (!mayBeginHere() || !ahead.isAsExpected(i)) {
				ByteBuffer displaced = ahead.displace(i, left, tail);
				this.buffers.copied(displaced.position());
				parse(displaced, 0, displaced.position());
				return;
			}
			int placed = Math.min(left, ahead.payloadBytes(i));
			beginPlaced(gap, ahead.headerOffset(i), ahead.payloadBytes(i), placed);
			left -= placed;
			if (this.state == State.PAYLOAD) {
				return;
			}
		}
		parse(tail, 0, left);
	}

	/**
	 * Begins a segment of a Read Response of which the first bytes are in their place.
	 */
	private void beginPlaced(ByteBuffer in, int position, int payloadBytes, int placedBytes) throws ProtocolViolation {
		int ddp = position + FpduFlyweight.ULPDU_OFFSET;
		int ulpduBytes = DdpTaggedFlyweight.HEADER_BYTES + payloadBytes;
		if (this.crcEnabled) {
			this.crc.reset();
			this.crc.update(in.limit(ddp + DdpTaggedFlyweight.HEADER_BYTES).position(position));
			in.clear();
		}
		beginSegment(in, ddp, ulpduBytes, DdpTaggedFlyweight.HEADER_BYTES);
		this.placement.open();
		this.placement.filled(placedBytes);
		this.payloadRemaining = payloadBytes - placedBytes;
		this.trailerBytes = ReadAhead.trailerBytes(ulpduBytes);
		this.state = (this.payloadRemaining > 0) ? State.PAYLOAD : State.TRAILER;
	}

	private void resume() throws ProtocolViolation {
		StagingMemory.Block own = this.partial;
		if (own == null) {
			this.stalled = false;
		}
		else if (mayBegin()) {
			this.stalled = false;
			parse(own.buffer(), this.partialOffset, this.partialOffset + this.partialBytes);
		}
	}

	/** Handles the FPDUs in {@code in} up to {@code limit} and keeps the rest. */
	private void parse(ByteBuffer in, int from, int limit) throws ProtocolViolation {
		in.clear();
		int position = from;
		while (!this.closed) {
			int available = limit - position;
			if (this.state == State.TRAILER) {
				if (available < this.trailerBytes) {
					break;
				}
				endPayload(in, position);
				position += this.trailerBytes;
				continue;
			}
			if (available < FpduFlyweight.ULPDU_OFFSET) {
				break;
			}
			if (!mayBeginHere()) {
				this.stalled = true;
				break;
			}
			int ulpduBytes = FpduFlyweight.ulpduLength(in, position);
			int total = FpduFlyweight.totalBytes(ulpduBytes);
			if (available >= total) {
				handleComplete(in, position, ulpduBytes);
				position += total;
			}
			else if (beginPayload(in, position, available, ulpduBytes)) {
				position = limit;
			}
			else {
				break;
			}
		}
		keep(in, position, this.closed ? position : limit);
	}

	private void handleComplete(ByteBuffer in, int position, int ulpduBytes) throws ProtocolViolation {
		int crcOffset = position + FpduFlyweight.totalBytes(ulpduBytes) - FpduFlyweight.CRC_BYTES;
		if (this.crcEnabled) {
			this.crc.reset();
			this.crc.update(in.limit(crcOffset).position(position));
			in.clear();
			checkCrc(FpduFlyweight.crc(in, crcOffset));
		}
		int ddp = position + FpduFlyweight.ULPDU_OFFSET;
		beginSegment(in, ddp, ulpduBytes, ulpduBytes);
		int headerBytes = InboundDispatcher.headerBytes(DdpTaggedFlyweight.control(in, ddp));
		this.placement.copyFrom(in, ddp + headerBytes);
		this.buffers.copied(ulpduBytes - headerBytes);
		this.expectsLarge = ulpduBytes >= this.directBytes;
		this.frames++;
		int before = this.sends.messages();
		this.dispatcher.end();
		if (ulpduBytes - headerBytes < LITTLE_BYTES && this.sends.messages() == before
				&& !this.dispatcher.isReadResponse()) {
			this.little++;
		}
	}

	/** Begins a long payload of which a part is still in the socket, if that may be. */
	private boolean beginPayload(ByteBuffer in, int position, int available, int ulpduBytes) throws ProtocolViolation {
		int ddp = position + FpduFlyweight.ULPDU_OFFSET;
		if (available < FpduFlyweight.ULPDU_OFFSET + DdpUntaggedFlyweight.HEADER_BYTES) {
			return false;
		}
		int control = DdpTaggedFlyweight.control(in, ddp);
		int payload = ddp + InboundDispatcher.headerBytes(control);
		int end = ddp + ulpduBytes;
		int arrived = position + available;
		boolean mayPlace = InboundDispatcher.placeFixedByState(control)
				|| (!this.crcEnabled && InboundDispatcher.isWrite(control));
		boolean worthwhile = end - arrived >= this.directBytes || ulpduBytes > MOST_KEPT_BYTES;
		if (!mayPlace || arrived >= end || !worthwhile) {
			return false;
		}
		if (this.crcEnabled) {
			this.crc.reset();
			this.crc.update(in.limit(payload).position(position));
			in.clear();
		}
		beginSegment(in, ddp, ulpduBytes, arrived - ddp);
		this.placement.open();
		this.placement.fill(in.limit(arrived).position(payload));
		in.clear();
		this.buffers.copied(arrived - payload);
		this.payloadRemaining = end - arrived;
		this.trailerBytes = ReadAhead.trailerBytes(ulpduBytes);
		this.state = State.PAYLOAD;
		this.expectsLarge = true;
		return true;
	}

	private void endPayload(ByteBuffer in, int position) throws ProtocolViolation {
		this.state = State.HEADER;
		if (this.crcEnabled) {
			int crcOffset = position + this.trailerBytes - FpduFlyweight.CRC_BYTES;
			if (!this.placement.isValid()) {
				throw this.dispatcher.placementLost();
			}
			this.placement.updateCrc(this.crc);
			this.crc.update(in.limit(crcOffset).position(position));
			in.clear();
			this.placement.close();
			checkCrc(FpduFlyweight.crc(in, crcOffset));
		}
		else {
			this.placement.close();
		}
		this.frames++;
		this.dispatcher.end();
	}

	private void checkCrc(int received) throws ProtocolViolation {
		if ((int) this.crc.getValue() != received) {
			throw ProtocolViolation.ofStream(TerminateError.MPA_CRC, "CRC of an inbound frame is wrong");
		}
	}

	private void beginSegment(ByteBuffer in, int ddp, int ulpduBytes, int availableBytes) throws ProtocolViolation {
		this.headerBytes = 0;
		int control = (ulpduBytes >= Short.BYTES) ? DdpTaggedFlyweight.control(in, ddp) : 0;
		int needed = InboundDispatcher.headerBytes(control);
		if (ulpduBytes < needed) {
			throw ProtocolViolation.ofStream(TerminateError.DDP_LOCAL_CATASTROPHIC,
					"frame of " + ulpduBytes + " bytes is shorter than a DDP header");
		}
		if (DdpControl.opcode(control) == DdpControl.OPCODE_READ_REQUEST) {
			needed = Math.min(ulpduBytes, needed + ReadRequestFlyweight.HEADER_BYTES);
		}
		if (needed <= availableBytes) {
			in.get(ddp, this.header, 0, needed);
			this.headerBytes = needed;
			this.segmentBytes = ulpduBytes;
		}
		this.outbound.release();
		this.dispatcher.begin(in, ddp, ulpduBytes);
	}

	/** Moves what could not be handled yet to a block that lasts, unless it is in one. */
	private void keep(ByteBuffer in, int position, int limit) throws ProtocolViolation {
		int rest = limit - position;
		StagingMemory.Block own = this.partial;
		boolean inPlace = own != null && own.isMemory(in);
		this.partialBytes = inPlace ? rest : 0;
		this.partialOffset = inPlace ? position : 0;
		if (own != null && !inPlace && !own.fits(rest)) {
			this.partial = null;
			own.release();
		}
		if (rest == 0) {
			releasePartial();
			return;
		}
		this.partialNeeded = Math.max(rest, neededBytes(in, position, rest));
		if (this.partialSince == 0 || this.partialFrame != this.frames) {
			this.partialSince = this.buffers.nextMoment();
			this.partialFrame = this.frames;
		}
		if (own == null || !inPlace || !(this.stalled || own.fits(rest))) {
			copyPartial(in, position, rest);
		}
	}

	private void copyPartial(ByteBuffer in, int position, int rest) throws ProtocolViolation {
		StagingMemory.Block own = this.partial;
		StagingMemory.Block target = (own != null && own.fits(rest)) ? own : this.owner.allocateStaging(rest);
		target.buffer().put(0, in, position, rest);
		this.buffers.copied(rest);
		if (own != null && own != target) {
			own.release();
		}
		this.partial = target;
		this.partialOffset = 0;
		this.partialBytes = rest;
	}

	private void releasePartial() {
		StagingMemory.Block own = this.partial;
		if (own != null) {
			this.partial = null;
			own.release();
		}
		this.partialBytes = 0;
		this.partialSince = 0;
	}

	/** Since when part of a frame has been kept, as a moment of the buffers, or 0. */
	long partialSince() {
		return this.partialSince;
	}

	/** Bytes that must be together before the rest can be handled. */
	private int neededBytes(ByteBuffer in, int position, int rest) {
		if (this.state == State.TRAILER || rest < FpduFlyweight.ULPDU_OFFSET) {
			return rest;
		}
		return FpduFlyweight.totalBytes(FpduFlyweight.ulpduLength(in, position));
	}

	/** The header of the segment last begun: DDP, and Read Request if it was one. */
	byte[] header() {
		return Arrays.copyOf(this.header, this.headerBytes);
	}

	int segmentBytes() {
		return this.segmentBytes;
	}

	/** Gives the buffers back; nothing is read any more. */
	void close() {
		this.closed = true;
		if (this.state != State.HEADER) {
			this.placement.close();
			this.state = State.HEADER;
		}
		this.placement.clear();
		releasePartial();
		this.stalled = false;
	}

	/** What the next bytes of the stream are. */
	private enum State {

		HEADER, PAYLOAD, TRAILER

	}

}
