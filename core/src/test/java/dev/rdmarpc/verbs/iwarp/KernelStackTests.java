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

import java.net.SocketException;
import java.util.HexFormat;
import java.util.stream.Stream;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

import dev.rdmarpc.verbs.iwarp.wire.DdpControl;
import dev.rdmarpc.verbs.iwarp.wire.Fpdu;
import dev.rdmarpc.verbs.iwarp.wire.TerminateError;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What the software iWARP of the Linux kernel (6.1) does about wrong bytes. It is here as
 * an independent reading of the RFCs; where it reads them in its own way, it says so
 * here.
 */
class KernelStackTests {

	private static final String KEY = "4d504120494420526571204672616d65";

	private static final String REPLY = "4d504120494420526570204672616d65";

	private static byte[] bytes(String hex) {
		return HexFormat.of().parseHex(hex.replace(" ", ""));
	}

	/** Flags 30: rejected; flags 00: accepted without anything. */
	@ParameterizedTest
	@CsvSource({ "another key, 47455420 2f204854 54502f31 2e310d0a 0d0a0d0a, ''",
			"a reply for a request, " + REPLY + " 10 02 0004 0010 0010, ''",
			"revision 3, " + KEY + " 10 03 0004 0010 0010, ''",
			"revision 0, " + KEY + " 00 00 0000, " + REPLY + "00 00 0000",
			"revision 1, " + KEY + " 00 01 0000, " + REPLY + "00 01 0000",
			"markers, " + KEY + " 90 02 0004 0010 0010, " + REPLY + "30 02 0004",
			"enhanced data cut short, " + KEY + " 10 02 0002 0010, " + REPLY + "30 02 0000",
			"a frame behind it at once, " + KEY
					+ " 10 02 0004 0010 0010 000e c140 00000001 00000000 00000000 00000000, ''",
			"half of it, 4d504120 49442052, ''" })
	void requestsAreRefusedUnlessTheyAreRight(String what, String request, String answer) throws Exception {
		try (KernelPeer kernel = KernelPeer.open()) {
			kernel.peer().write(bytes(request));
			byte[] expected = bytes(answer);
			assertThat(answerOf(kernel, 20)).as(what).isEqualTo(expected);
		}
	}

	/** Until it closes, if it does. */
	private static byte[] answerOf(KernelPeer kernel, int mostBytes) throws Exception {
		try {
			return kernel.peer().socket().getInputStream().readNBytes(mostBytes);
		}
		catch (SocketException ex) {
			return new byte[0];
		}
	}

	static Stream<Breach> breaches() {
		return Stream.of(headers(), sends(), tagged(), reads()).flatMap((cases) -> cases);
	}

	private static Stream<Breach> headers() {
		byte[] send = Fpdu.send(2, new byte[16]);
		byte[] write = Fpdu.write(1, 0, new byte[16]);
		return Stream.of(new Breach("DDP version 0, untagged", "1/2/0x06", (kernel) -> Fpdu.withControl(send, 0x4043)),
				new Breach("DDP version 2, tagged", "1/1/0x04", (kernel) -> Fpdu.withControl(write, 0xC240)),
				new Breach("RDMAP version 0", "0/2/0x05", (kernel) -> Fpdu.withControl(send, 0x4103)),
				new Breach("RDMAP version 3", "0/2/0x05", (kernel) -> Fpdu.withControl(write, 0xC1C0)),
				new Breach("opcode 8", "0/2/0x06", (kernel) -> Fpdu.withControl(send, 0x4148)),
				new Breach("opcode 15, tagged", "0/2/0x06", (kernel) -> Fpdu.withControl(write, 0xC14F)),
				new Breach("a Terminate", KernelPeer.CLOSED,
						(kernel) -> Fpdu.terminate(TerminateError.DDP_TAGGED_INVALID_STAG)));
	}

	private static Stream<Breach> sends() {
		return Stream.of(new Breach("Send on queue 1", "1/2/0x01", (kernel) -> send(1, 2, 0)),
				new Breach("Send on queue 7", "1/2/0x01", (kernel) -> send(7, 2, 0)),
				new Breach("Send number 0", "1/2/0x03", (kernel) -> send(0, 0, 0)),
				new Breach("Send number 1 again", "1/2/0x03", (kernel) -> send(0, 1, 0)),
				new Breach("Send number 3 before 2", "1/2/0x03", (kernel) -> send(0, 3, 0)),
				new Breach("Send that begins in its middle", "1/2/0x04", (kernel) -> send(0, 2, 4)),
				// RFC 5041: too long would be 0x05
				new Breach("Send too long", "1/2/0x02", (kernel) -> Fpdu.send(2, new byte[17])),
				new Breach("Send far too long", "1/2/0x02", (kernel) -> Fpdu.send(2, new byte[60_000])),
				new Breach("Send that invalidates an unknown STag", "0/2/0x09", (kernel) -> Fpdu.untagged(true,
						DdpControl.OPCODE_SEND_INVALIDATE, 0x12345678, 0, 2, 0, new byte[16])));
	}

	private static byte[] send(int queue, int msn, int offset) {
		return Fpdu.untagged(true, DdpControl.OPCODE_SEND, 0, queue, msn, offset, new byte[12]);
	}

	private static Stream<Breach> tagged() {
		int end = KernelPeer.REGION_BYTES;
		return Stream.of(new Breach("Write to STag 0", "1/1/0x00", (kernel) -> Fpdu.write(0, 0, new byte[16])),
				new Breach("Write to an unknown STag", "1/1/0x00",
						(kernel) -> Fpdu.write(kernel.stag() ^ 0x100, kernel.offset(), new byte[16])),
				new Breach("Write beyond the end", "1/1/0x01",
						(kernel) -> Fpdu.write(kernel.stag(), kernel.offset() + end - 15, new byte[16])),
				new Breach("Write before the beginning", "1/1/0x01",
						(kernel) -> Fpdu.write(kernel.stag(), kernel.offset() - 1, new byte[16])),
				new Breach("Read Response nobody asked for", "1/0/0x00",
						(kernel) -> kernel.response(0, 0, KernelPeer.READ_BYTES)));
	}

	private static Stream<Breach> reads() {
		return Stream.of(new Breach("Read from STag 0", "0/1/0x00", (kernel) -> Fpdu.readRequest(1, 1, 0, 8, 0, 0)),
				new Breach("Read from an unknown STag", "0/1/0x00",
						(kernel) -> Fpdu.readRequest(1, 1, 0, 8, kernel.stag() ^ 0x100, kernel.offset())),
				new Breach("Read beyond the end", "0/1/0x01",
						(kernel) -> Fpdu.readRequest(1, 1, 0, KernelPeer.REGION_BYTES + 1, kernel.stag(),
								kernel.offset())),
				new Breach("Read Request number 2 first", "1/2/0x03",
						(kernel) -> Fpdu.readRequest(2, 1, 0, 8, kernel.stag(), kernel.offset())),
				// the code of MPA that siw has for an FPDU that is too short
				new Breach("Read Request too short", "2/0/0x03", (kernel) -> Fpdu.untagged(true,
						DdpControl.OPCODE_READ_REQUEST, 0, DdpControl.QUEUE_READ_REQUEST, 1, 0, new byte[27])));
	}

	@ParameterizedTest
	@MethodSource("breaches")
	void segmentsThatAreWrongEndTheConnection(Breach breach) throws Exception {
		for (boolean crc : new boolean[] { false, true }) {
			assertThat(KernelPeer.endOf(crc, breach.end,
					(kernel) -> kernel.serveRead().peer().segment(breach.segment.make(kernel))))
				.as("CRC %s", crc)
				.contains(breach.end);
		}
	}

	@ParameterizedTest
	@CsvSource({ "another STag, 256, 0, 64, 1/1/0x00", "another place, 0, 1, 64, 1/1/0x01",
			"too much, 0, 0, 65, 1/1/0x01", "far too much, 0, 0, 5000, 1/1/0x01" })
	void responsesThatWereNotAskedForEndTheConnection(String what, int stag, int offset, int bytes, String end)
			throws Exception {
		assertThat(
				KernelPeer.endOf(false, end, (kernel) -> kernel.peer().segment(kernel.response(stag, offset, bytes))))
			.as(what)
			.contains(end);
	}

	/** Headers are looked at before the CRC is there. */
	@ParameterizedTest
	@CsvSource({ "2, 1/2/0x06", "13, 1/2/0x03", "25, 2/0/0x02", "37, 2/0/0x02" })
	void flippedBitsUnderCrcEndTheConnection(int position, String end) throws Exception {
		byte[] frame = Fpdu.frame(Fpdu.send(2, KernelPeer.advertisement(0, 0)), true);
		frame[position] ^= 1;
		assertThat(KernelPeer.endOf(true, end, (kernel) -> kernel.serveRead().peer().write(frame))).contains(end);
	}

	/**
	 * Something that the kernel must refuse.
	 *
	 * @param name what is wrong
	 * @param end layer, type and code of the Terminate to be expected
	 * @param segment makes it
	 */
	record Breach(String name, String end, Segment segment) {

		@Override
		public String toString() {
			return this.name;
		}

	}

	/** Makes a segment. */
	@FunctionalInterface
	interface Segment {

		byte[] make(KernelPeer kernel);

	}

}
