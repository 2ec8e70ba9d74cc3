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

package dev.rdmarpc.verbs.iwarp.wire;

import java.nio.ByteBuffer;
import java.util.zip.CRC32C;

/**
 * Frames and segments made by hand, as a peer that may be wrong on purpose makes them.
 */
public final class Fpdu {

	private Fpdu() {
	}

	/** A frame around a segment, with a good CRC or with none. */
	public static byte[] frame(byte[] ulpdu, boolean crcEnabled) {
		ByteBuffer frame = ByteBuffer.allocate(FpduFlyweight.totalBytes(ulpdu.length));
		frame.putShort((short) ulpdu.length).put(ulpdu);
		int end = frame.capacity() - FpduFlyweight.CRC_BYTES;
		if (crcEnabled) {
			FpduFlyweight.crc(frame, end, crcOf(frame, end));
		}
		return frame.array();
	}

	/** The CRC over the first bytes of a frame. */
	public static int crcOf(ByteBuffer frame, int length) {
		CRC32C crc = new CRC32C();
		crc.update(frame.duplicate().limit(length).position(0));
		return (int) crc.getValue();
	}

	public static byte[] untagged(boolean last, int opcode, int invalidate, int queue, int msn, int offset,
			byte[] payload) {
		ByteBuffer ulpdu = ByteBuffer.allocate(DdpUntaggedFlyweight.HEADER_BYTES + payload.length);
		DdpUntaggedFlyweight.encode(ulpdu, 0, last, opcode, invalidate, queue, msn, offset);
		return ulpdu.put(DdpUntaggedFlyweight.HEADER_BYTES, payload).array();
	}

	public static byte[] send(int msn, byte[] payload) {
		return untagged(true, DdpControl.OPCODE_SEND, 0, DdpControl.QUEUE_SEND, msn, 0, payload);
	}

	public static byte[] tagged(boolean last, int opcode, int stag, long offset, byte[] payload) {
		ByteBuffer ulpdu = ByteBuffer.allocate(DdpTaggedFlyweight.HEADER_BYTES + payload.length);
		DdpTaggedFlyweight.encode(ulpdu, 0, last, opcode, stag, offset);
		return ulpdu.put(DdpTaggedFlyweight.HEADER_BYTES, payload).array();
	}

	public static byte[] write(int stag, long offset, byte[] payload) {
		return tagged(true, DdpControl.OPCODE_WRITE, stag, offset, payload);
	}

	public static byte[] readRequest(int msn, int sinkStag, long sinkOffset, long size, int sourceStag,
			long sourceOffset) {
		ByteBuffer read = ByteBuffer.allocate(ReadRequestFlyweight.HEADER_BYTES);
		ReadRequestFlyweight.encode(read, 0, sinkStag, sinkOffset, size, sourceStag, sourceOffset);
		return untagged(true, DdpControl.OPCODE_READ_REQUEST, 0, DdpControl.QUEUE_READ_REQUEST, msn, 0, read.array());
	}

	public static byte[] terminate(TerminateError error) {
		ByteBuffer body = ByteBuffer.allocate(TerminateFlyweight.CONTROL_BYTES);
		TerminateFlyweight.encode(body, 0, error);
		return untagged(true, DdpControl.OPCODE_TERMINATE, 0, DdpControl.QUEUE_TERMINATE, 1, 0, body.array());
	}

	/** A segment with another control word. */
	public static byte[] withControl(byte[] ulpdu, int control) {
		byte[] changed = ulpdu.clone();
		ByteBuffer.wrap(changed).putShort(0, (short) control);
		return changed;
	}

}
