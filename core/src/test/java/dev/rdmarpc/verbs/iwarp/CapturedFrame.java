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

package dev.rdmarpc.verbs.iwarp;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

import dev.rdmarpc.verbs.iwarp.wire.DdpControl;
import dev.rdmarpc.verbs.iwarp.wire.DdpTaggedFlyweight;
import dev.rdmarpc.verbs.iwarp.wire.DdpUntaggedFlyweight;
import dev.rdmarpc.verbs.iwarp.wire.FpduFlyweight;
import dev.rdmarpc.verbs.iwarp.wire.MpaFrameFlyweight;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * An FPDU that went over a connection, as far as all readers of it must agree.
 *
 * @param ulpduBytes its length field
 * @param opcode the RDMAP opcode
 * @param last whether it ends its message
 * @param target the STag, or the number of the untagged queue
 * @param position the tagged offset, or the message sequence number
 * @param offset the message offset, 0 in a tagged segment
 */
record CapturedFrame(int ulpduBytes, int opcode, boolean last, long target, long position, long offset) {

	/** Takes one direction of a connection apart, which has nothing but whole frames. */
	static List<CapturedFrame> parse(byte[] stream) {
		ByteBuffer in = ByteBuffer.wrap(stream);
		List<CapturedFrame> frames = new ArrayList<>();
		int position = MpaFrameFlyweight.HEADER_BYTES + MpaFrameFlyweight.privateDataLength(in, 0);
		while (position < stream.length) {
			frames.add(at(in, position));
			position += FpduFlyweight.totalBytes(FpduFlyweight.ulpduLength(in, position));
		}
		assertThat(position).as("end of the last frame").isEqualTo(stream.length);
		return frames;
	}

	private static CapturedFrame at(ByteBuffer in, int position) {
		int ulpduBytes = FpduFlyweight.ulpduLength(in, position);
		int ddp = position + FpduFlyweight.ULPDU_OFFSET;
		int control = DdpTaggedFlyweight.control(in, ddp);
		int opcode = DdpControl.opcode(control);
		if (DdpControl.isTagged(control)) {
			return new CapturedFrame(ulpduBytes, opcode, DdpControl.isLast(control),
					Integer.toUnsignedLong(DdpTaggedFlyweight.stag(in, ddp)), DdpTaggedFlyweight.taggedOffset(in, ddp),
					0);
		}
		return new CapturedFrame(ulpduBytes, opcode, DdpControl.isLast(control),
				DdpUntaggedFlyweight.queueNumber(in, ddp), DdpUntaggedFlyweight.messageSequenceNumber(in, ddp),
				DdpUntaggedFlyweight.messageOffset(in, ddp));
	}

}
