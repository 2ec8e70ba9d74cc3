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
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/** Frames that Wireshark calls well-formed, read and made. */
class WireVectorTests {

	static final String SEND = "001f41430000000000000000000000010000000070696e672d7061796c6f6164210000005fc50d3c";

	static final String READ_REQUEST = "002e41410000000000000001000000010000000011223344000000000000100000000040"
			+ "556677880000000000002000ef0a96a6";

	static final String WRITE_READY_TO_RECEIVE = "000ec140000000010000000000000000ebd34c5f";

	static final String SEND_INVALIDATE = "0015414401798a00000000000000000200000000696e760071fa252d";

	static final String TERMINATE = "00264147000000000000000200000001000000001101c000002fc14001798a00"
			+ "000000000804e0081fcdce31";

	private static ByteBuffer parse(String hex) {
		return ByteBuffer.wrap(HexFormat.of().parseHex(hex));
	}

	private static String hex(byte[] bytes) {
		return HexFormat.of().formatHex(bytes);
	}

	@ParameterizedTest
	@ValueSource(strings = { SEND, READ_REQUEST, WRITE_READY_TO_RECEIVE, SEND_INVALIDATE, TERMINATE })
	void lengthPadAndCrcAgree(String hex) {
		ByteBuffer frame = parse(hex);
		int total = FpduFlyweight.totalBytes(FpduFlyweight.ulpduLength(frame, 0));
		assertThat(total).isEqualTo(frame.capacity());
		int end = total - FpduFlyweight.CRC_BYTES;
		assertThat(FpduFlyweight.crc(frame, end)).isEqualTo(Fpdu.crcOf(frame, end));
	}

	@Test
	void send() {
		ByteBuffer frame = parse(SEND);
		int control = DdpUntaggedFlyweight.control(frame, 2);
		assertThat(DdpControl.isTagged(control)).isFalse();
		assertThat(DdpControl.isLast(control)).isTrue();
		assertThat(DdpControl.isDdpVersion1(control)).isTrue();
		assertThat(DdpControl.isRdmapVersion1(control)).isTrue();
		assertThat(DdpControl.opcode(control)).isEqualTo(DdpControl.OPCODE_SEND);
		assertThat(DdpUntaggedFlyweight.queueNumber(frame, 2)).isEqualTo(DdpControl.QUEUE_SEND);
		assertThat(DdpUntaggedFlyweight.messageSequenceNumber(frame, 2)).isEqualTo(1);
		assertThat(DdpUntaggedFlyweight.messageOffset(frame, 2)).isZero();
		assertThat(DdpUntaggedFlyweight.invalidateStag(frame, 2)).isZero();
		byte[] payload = "ping-payload!".getBytes(StandardCharsets.US_ASCII);
		assertThat(hex(Fpdu.frame(Fpdu.send(1, payload), true))).isEqualTo(SEND);
	}

	@Test
	void readRequest() {
		ByteBuffer frame = parse(READ_REQUEST);
		assertThat(DdpControl.opcode(DdpUntaggedFlyweight.control(frame, 2))).isEqualTo(DdpControl.OPCODE_READ_REQUEST);
		assertThat(DdpUntaggedFlyweight.queueNumber(frame, 2)).isEqualTo(DdpControl.QUEUE_READ_REQUEST);
		assertThat(ReadRequestFlyweight.sinkStag(frame, 20)).isEqualTo(0x11223344);
		assertThat(ReadRequestFlyweight.sinkTaggedOffset(frame, 20)).isEqualTo(0x1000);
		assertThat(ReadRequestFlyweight.size(frame, 20)).isEqualTo(64);
		assertThat(ReadRequestFlyweight.sourceStag(frame, 20)).isEqualTo(0x55667788);
		assertThat(ReadRequestFlyweight.sourceTaggedOffset(frame, 20)).isEqualTo(0x2000);
		assertThat(hex(Fpdu.frame(Fpdu.readRequest(1, 0x11223344, 0x1000, 64, 0x55667788, 0x2000), true)))
			.isEqualTo(READ_REQUEST);
	}

	@Test
	void zeroLengthWrite() {
		ByteBuffer frame = parse(WRITE_READY_TO_RECEIVE);
		int control = DdpTaggedFlyweight.control(frame, 2);
		assertThat(DdpControl.isTagged(control)).isTrue();
		assertThat(DdpControl.opcode(control)).isEqualTo(DdpControl.OPCODE_WRITE);
		assertThat(DdpTaggedFlyweight.stag(frame, 2)).isEqualTo(1);
		assertThat(DdpTaggedFlyweight.taggedOffset(frame, 2)).isZero();
		assertThat(hex(Fpdu.frame(Fpdu.write(1, 0, new byte[0]), true))).isEqualTo(WRITE_READY_TO_RECEIVE);
	}

	@Test
	void sendWithInvalidate() {
		ByteBuffer frame = parse(SEND_INVALIDATE);
		assertThat(DdpUntaggedFlyweight.invalidateStag(frame, 2)).isEqualTo(0x01798a00);
		assertThat(DdpUntaggedFlyweight.messageSequenceNumber(frame, 2)).isEqualTo(2);
		byte[] segment = Fpdu.untagged(true, DdpControl.OPCODE_SEND_INVALIDATE, 0x01798a00, 0, 2, 0,
				"inv".getBytes(StandardCharsets.US_ASCII));
		assertThat(hex(Fpdu.frame(segment, true))).isEqualTo(SEND_INVALIDATE);
	}

	@Test
	void terminate() {
		ByteBuffer frame = parse(TERMINATE);
		int body = FpduFlyweight.ULPDU_OFFSET + DdpUntaggedFlyweight.HEADER_BYTES;
		assertThat(DdpUntaggedFlyweight.queueNumber(frame, 2)).isEqualTo(DdpControl.QUEUE_TERMINATE);
		assertThat(TerminateError.of(TerminateFlyweight.layer(frame, body), TerminateFlyweight.type(frame, body),
				TerminateFlyweight.code(frame, body)))
			.isEqualTo(TerminateError.DDP_TAGGED_BASE_OR_BOUNDS);
		assertThat(TerminateFlyweight.headerControl(frame, body))
			.isEqualTo(TerminateFlyweight.SEGMENT_LENGTH_VALID | TerminateFlyweight.DDP_HEADER_INCLUDED);
		assertThat(TerminateFlyweight.segmentLength(frame, body)).isEqualTo(0x2f);
		byte[] header = new byte[DdpTaggedFlyweight.HEADER_BYTES];
		frame.get(body + TerminateFlyweight.TERMINATED_HEADER_OFFSET, header);
		assertThat(DdpTaggedFlyweight.stag(ByteBuffer.wrap(header), 0)).isEqualTo(0x01798a00);
		ByteBuffer encoded = ByteBuffer.allocate(TerminateFlyweight.MAX_BYTES);
		int length = TerminateFlyweight.encode(encoded, 0, TerminateError.DDP_TAGGED_BASE_OR_BOUNDS, header, 0x2f);
		byte[] bytes = new byte[length];
		encoded.get(0, bytes);
		byte[] segment = Fpdu.untagged(true, DdpControl.OPCODE_TERMINATE, 0, DdpControl.QUEUE_TERMINATE, 1, 0, bytes);
		assertThat(hex(Fpdu.frame(segment, true))).isEqualTo(TERMINATE);
	}

	@Test
	void everyTerminateErrorIsFoundByItsNumbers() {
		for (TerminateError error : TerminateError.values()) {
			assertThat(TerminateError.of(error.layer(), error.type(), error.code())).isEqualTo(error);
		}
		assertThat(TerminateError.of(3, 0, 0)).isNull();
	}

	@Test
	void padFillsToFourBytes() {
		for (int length = 0; length < 64; length++) {
			assertThat(FpduFlyweight.totalBytes(length) % 4).isZero();
			assertThat(FpduFlyweight.padBytes(length)).isBetween(0, 3);
		}
		assertThat(FpduFlyweight.MAX_BYTES).isEqualTo(2 + 65535 + 3 + 4);
	}

}
