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

import java.nio.ByteBuffer;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.verbs.iwarp.wire.DdpControl;
import dev.rdmarpc.verbs.iwarp.wire.DdpTaggedFlyweight;
import dev.rdmarpc.verbs.iwarp.wire.FpduFlyweight;
import dev.rdmarpc.verbs.support.RegisteredMemory;

/**
 * The frames that are expected behind the payload at hand: the next segments of the same
 * Read Response, each as long as the one before unless it is the last. So one system call
 * reads several of them, headers into gaps and payloads straight to their places. Guarded
 * by the reactor's lock, and empty between two reads.
 *
 * <p>
 * Implementation notes. An expectation grants nothing: the segments are begun and checked
 * like all others once their headers are there. Until then their bytes lie in the sink of
 * the Read that the peer is answering, behind what has arrived of it, where the peer may
 * place what it likes and nobody looks before the Read has completed. If something else
 * has come instead, as a Send that the peer had in between, what was read is put together
 * again elsewhere and handled from there.
 */
final class ReadAhead {

	/** Those of a Read of 256 KiB behind its first. */
	static final int MOST_FRAMES = 4;

	/** What {@link #vectors} has at most. */
	static final int MOST_VECTORS = 2 * MOST_FRAMES + 1;

	private static final int HEADER_BYTES = FpduFlyweight.ULPDU_OFFSET + DdpTaggedFlyweight.HEADER_BYTES;

	private static final int MOST_TAIL_BYTES = 256;

	private static final int MOST_GAP_BYTES = FpduWriter.MAX_TRAILER_BYTES + HEADER_BYTES;

	private final ByteBuffer[] gaps = new ByteBuffer[MOST_FRAMES];

	private final int[] trailers = new int[MOST_FRAMES];

	private final int[] offsets = new int[MOST_FRAMES];

	private final int[] lengths = new int[MOST_FRAMES];

	private final ByteBuffer[] vectors = new ByteBuffer[MOST_VECTORS];

	private @Nullable RegisteredMemory region;

	private final ByteBuffer displaced = ByteBuffer
		.allocateDirect(MOST_FRAMES * (MOST_GAP_BYTES + FpduFlyweight.MAX_ULPDU_BYTES) + MOST_TAIL_BYTES);

	private int count;

	private int bytes;

	ReadAhead() {
		for (int i = 0; i < MOST_FRAMES; i++) {
			this.gaps[i] = ByteBuffer.allocateDirect(MOST_GAP_BYTES);
		}
	}

	/** Length of pad and CRC behind a ULPDU. */
	static int trailerBytes(int ulpduBytes) {
		return FpduFlyweight.padBytes(ulpduBytes) + FpduFlyweight.CRC_BYTES;
	}

	/**
	 * Expects the segments behind the one that the requester has begun.
	 * @param trailerBytes what ends the frame at hand
	 */
	void expect(ReadRequester requester, int trailerBytes) {
		RegisteredMemory sink = requester.sinkRegion();
		int left = (sink != null) ? requester.bytesBehindSegment() : 0;
		int offset = requester.offsetBehindSegment();
		int trailer = trailerBytes;
		for (; sink != null && this.count < MOST_FRAMES && left > 0; this.count++) {
			int length = Math.min(left, requester.segmentBytes());
			this.trailers[this.count] = trailer;
			this.offsets[this.count] = offset;
			this.lengths[this.count] = length;
			this.vectors[2 * this.count] = this.gaps[this.count].limit(trailer + HEADER_BYTES).position(0);
			this.vectors[2 * this.count + 1] = sink.acquireView(offset, length);
			this.bytes += trailer + HEADER_BYTES + length;
			left -= length;
			offset += length;
			trailer = trailerBytes(DdpTaggedFlyweight.HEADER_BYTES + length);
		}
		this.region = sink;
	}

	/** Where to read what is expected, and what follows it. */
	ByteBuffer[] vectors(ByteBuffer tail) {
		this.vectors[2 * this.count] = tail;
		return this.vectors;
	}

	int vectorCount() {
		return 2 * this.count + 1;
	}

	int count() {
		return this.count;
	}

	/** How long they are, from the trailer before to the last payload. */
	int bytes() {
		return this.bytes;
	}

	/** The end of the frame before, and the header of an expected one. */
	ByteBuffer gap(int frame) {
		return this.gaps[frame];
	}

	/** Where in its gap the header of a frame begins. */
	int headerOffset(int frame) {
		return this.trailers[frame];
	}

	int gapBytes(int frame) {
		return this.trailers[frame] + HEADER_BYTES;
	}

	int payloadBytes(int frame) {
		return this.lengths[frame];
	}

	/** Whether a header that has come is of a Read Response of the expected length. */
	boolean isAsExpected(int frame) {
		ByteBuffer gap = this.gaps[frame].clear();
		int header = this.trailers[frame];
		int control = DdpTaggedFlyweight.control(gap, header + FpduFlyweight.ULPDU_OFFSET);
		return FpduFlyweight.ulpduLength(gap, header) == DdpTaggedFlyweight.HEADER_BYTES + this.lengths[frame]
				&& DdpControl.isTagged(control) && DdpControl.opcode(control) == DdpControl.OPCODE_READ_RESPONSE;
	}

	/**
	 * Puts together what was read from the header of a frame on.
	 * @param left how many bytes were read behind that header
	 * @return the bytes, up to the buffer's position
	 */
	ByteBuffer displace(int frame, int left, ByteBuffer tail) {
		ByteBuffer target = this.displaced.clear();
		int rest = left;
		int from = this.trailers[frame];
		for (int i = frame; i < this.count; i++) {
			int inGap = (i == frame) ? HEADER_BYTES : Math.min(rest, gapBytes(i));
			append(target, this.gaps[i], from, inGap);
			rest -= (i == frame) ? 0 : inGap;
			from = 0;
			int inPlace = Math.min(rest, this.lengths[i]);
			append(target, this.vectors[2 * i + 1], this.offsets[i], inPlace);
			rest -= inPlace;
		}
		append(target, tail, 0, rest);
		return target;
	}

	private static void append(ByteBuffer target, ByteBuffer source, int offset, int length) {
		int at = target.position();
		target.put(at, source.clear(), offset, length).position(at + length);
	}

	void clear() {
		RegisteredMemory sink = this.region;
		for (int i = 0; sink != null && i < this.count; i++) {
			sink.releaseView(this.vectors[2 * i + 1]);
		}
		this.region = null;
		this.count = 0;
		this.bytes = 0;
	}

}
