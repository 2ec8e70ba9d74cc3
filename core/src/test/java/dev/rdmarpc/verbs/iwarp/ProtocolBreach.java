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

import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;

import dev.rdmarpc.verbs.MemoryRegion;
import dev.rdmarpc.verbs.iwarp.wire.DdpControl;
import dev.rdmarpc.verbs.iwarp.wire.Fpdu;
import dev.rdmarpc.verbs.iwarp.wire.TerminateError;

/**
 * A way to break the protocol within well-formed frames, and the Terminate for it.
 *
 * @param name what is wrong
 * @param error the Terminate to be expected
 * @param receives receives posted before
 * @param segments makes the segments, of which the last is at fault
 */
record ProtocolBreach(String name, TerminateError error, int receives, Segments segments) {

	/** Length of each region in {@link Memory}, and of the receives posted. */
	static final int REGION_BYTES = 64;

	private static ProtocolBreach wrong(String name, TerminateError error, Segments segments) {
		return new ProtocolBreach(name, error, 1, segments);
	}

	/** Bytes that must not arrive anywhere. */
	static byte[] payload() {
		byte[] payload = new byte[16];
		Arrays.fill(payload, (byte) 0xEE);
		return payload;
	}

	/** All of them. */
	static Stream<ProtocolBreach> all() {
		return Stream.of(headerCases(), sendCases(), writeCases(), readCases(), invalidateCases())
			.flatMap((cases) -> cases);
	}

	private static Stream<ProtocolBreach> headerCases() {
		byte[] send = Fpdu.send(1, payload());
		byte[] write = Fpdu.write(1, 0, payload());
		return Stream.of(
				wrong("DDP version 0, untagged", TerminateError.DDP_UNTAGGED_INVALID_VERSION,
						(m) -> List.of(Fpdu.withControl(send, 0x4043))),
				wrong("DDP version 2, tagged", TerminateError.DDP_TAGGED_INVALID_VERSION,
						(m) -> List.of(Fpdu.withControl(write, 0xC240))),
				wrong("RDMAP version 0", TerminateError.RDMAP_INVALID_VERSION,
						(m) -> List.of(Fpdu.withControl(send, 0x4103))),
				wrong("RDMAP version 3", TerminateError.RDMAP_INVALID_VERSION,
						(m) -> List.of(Fpdu.withControl(write, 0xC1C0))),
				wrong("opcode 8", TerminateError.RDMAP_UNEXPECTED_OPCODE,
						(m) -> List.of(Fpdu.withControl(send, 0x4148))),
				wrong("opcode 15, tagged", TerminateError.RDMAP_UNEXPECTED_OPCODE,
						(m) -> List.of(Fpdu.withControl(write, 0xC14F))),
				wrong("tagged Send", TerminateError.RDMAP_UNEXPECTED_OPCODE,
						(m) -> List.of(Fpdu.tagged(true, DdpControl.OPCODE_SEND, 1, 0, payload()))),
				wrong("untagged Write", TerminateError.RDMAP_UNEXPECTED_OPCODE,
						(m) -> List.of(Fpdu.untagged(true, DdpControl.OPCODE_WRITE, 0, 0, 1, 0, payload()))),
				wrong("Terminate on queue 0", TerminateError.DDP_UNTAGGED_INVALID_QUEUE,
						(m) -> List.of(Fpdu.untagged(true, DdpControl.OPCODE_TERMINATE, 0, 0, 1, 0, new byte[4]))),
				wrong("Terminate number 2", TerminateError.DDP_UNTAGGED_MSN_RANGE,
						(m) -> List.of(Fpdu.untagged(true, DdpControl.OPCODE_TERMINATE, 0, 2, 2, 0, new byte[4]))),
				wrong("Terminate with an offset", TerminateError.DDP_UNTAGGED_INVALID_OFFSET,
						(m) -> List.of(Fpdu.untagged(true, DdpControl.OPCODE_TERMINATE, 0, 2, 1, 4, new byte[4]))),
				wrong("Terminate not last", TerminateError.DDP_UNTAGGED_TOO_LONG,
						(m) -> List.of(Fpdu.untagged(false, DdpControl.OPCODE_TERMINATE, 0, 2, 1, 0, new byte[4]))),
				wrong("Terminate without a body", TerminateError.DDP_UNTAGGED_TOO_LONG,
						(m) -> List.of(Fpdu.untagged(true, DdpControl.OPCODE_TERMINATE, 0, 2, 1, 0, new byte[3]))));
	}

	private static Stream<ProtocolBreach> sendCases() {
		return Stream.of(
				wrong("Send on queue 1", TerminateError.DDP_UNTAGGED_INVALID_QUEUE,
						(m) -> List.of(Fpdu.untagged(true, DdpControl.OPCODE_SEND, 0, 1, 1, 0, payload()))),
				wrong("Send on queue 4294967295", TerminateError.DDP_UNTAGGED_INVALID_QUEUE,
						(m) -> List.of(Fpdu.untagged(true, DdpControl.OPCODE_SEND, 0, -1, 1, 0, payload()))),
				wrong("Send number 0", TerminateError.DDP_UNTAGGED_MSN_RANGE, (m) -> List.of(Fpdu.send(0, payload()))),
				wrong("Send number 2 first", TerminateError.DDP_UNTAGGED_MSN_RANGE,
						(m) -> List.of(Fpdu.send(2, payload()))),
				wrong("Send number 1 twice", TerminateError.DDP_UNTAGGED_MSN_RANGE,
						(m) -> List.of(Fpdu.send(1, payload()), Fpdu.send(1, payload()))),
				wrong("Send that begins in its middle", TerminateError.DDP_UNTAGGED_INVALID_OFFSET,
						(m) -> List.of(Fpdu.untagged(true, DdpControl.OPCODE_SEND, 0, 0, 1, 16, payload()))),
				wrong("Send with a gap", TerminateError.DDP_UNTAGGED_INVALID_OFFSET,
						(m) -> List.of(Fpdu.untagged(false, DdpControl.OPCODE_SEND, 0, 0, 1, 0, payload()),
								Fpdu.untagged(true, DdpControl.OPCODE_SEND, 0, 0, 1, 17, payload()))),
				wrong("Send that becomes solicited", TerminateError.RDMAP_UNEXPECTED_OPCODE,
						(m) -> List.of(Fpdu.untagged(false, DdpControl.OPCODE_SEND, 0, 0, 1, 0, payload()),
								Fpdu.untagged(true, DdpControl.OPCODE_SEND_SOLICITED, 0, 0, 1, 16, payload()))),
				wrong("Send that becomes one that invalidates, after nothing", TerminateError.RDMAP_UNEXPECTED_OPCODE,
						(m) -> List.of(Fpdu.untagged(false, DdpControl.OPCODE_SEND, 0, 0, 1, 0, new byte[0]),
								Fpdu.untagged(true, DdpControl.OPCODE_SEND_INVALIDATE, m.lent().remoteKey(), 0, 1, 0,
										payload()))),
				wrong("Send that changes what it invalidates", TerminateError.RDMAP_UNEXPECTED_OPCODE,
						(m) -> List.of(
								Fpdu.untagged(false, DdpControl.OPCODE_SEND_INVALIDATE, m.open().remoteKey(), 0, 1, 0,
										payload()),
								Fpdu.untagged(true, DdpControl.OPCODE_SEND_INVALIDATE, m.lent().remoteKey(), 0, 1, 16,
										payload()))),
				new ProtocolBreach("Send without a receive", TerminateError.DDP_UNTAGGED_NO_BUFFER, 0,
						(m) -> List.of(Fpdu.send(1, payload()))),
				wrong("second Send without a receive", TerminateError.DDP_UNTAGGED_NO_BUFFER,
						(m) -> List.of(Fpdu.send(1, payload()), Fpdu.send(2, payload()))),
				wrong("Send too long", TerminateError.DDP_UNTAGGED_TOO_LONG,
						(m) -> List.of(Fpdu.send(1, new byte[REGION_BYTES + 1]))),
				wrong("Send too long by its last segment", TerminateError.DDP_UNTAGGED_TOO_LONG,
						(m) -> List.of(Fpdu.untagged(false, DdpControl.OPCODE_SEND, 0, 0, 1, 0, new byte[REGION_BYTES]),
								Fpdu.untagged(true, DdpControl.OPCODE_SEND, 0, 0, 1, REGION_BYTES, new byte[1]))));
	}

	private static Stream<ProtocolBreach> writeCases() {
		return Stream.of(
				wrong("Write to STag 0", TerminateError.DDP_TAGGED_INVALID_STAG,
						(m) -> List.of(Fpdu.write(0, 0, payload()))),
				wrong("Write with the next key", TerminateError.DDP_TAGGED_INVALID_STAG,
						(m) -> List.of(Fpdu.write(m.open().remoteKey() ^ 1, m.open().remoteAddress(), payload()))),
				wrong("Write into another protection domain", TerminateError.DDP_TAGGED_STAG_NOT_ASSOCIATED,
						(m) -> List.of(Fpdu.write(m.foreign().remoteKey(), m.foreign().remoteAddress(), payload()))),
				wrong("Write that wraps", TerminateError.DDP_TAGGED_TO_WRAP,
						(m) -> List.of(Fpdu.write(m.open().remoteKey(), -8, payload()))),
				wrong("Write beyond the end", TerminateError.DDP_TAGGED_BASE_OR_BOUNDS,
						(m) -> List.of(Fpdu.write(m.open().remoteKey(), m.open().remoteAddress() + REGION_BYTES - 15,
								payload()))),
				wrong("Write before the beginning", TerminateError.DDP_TAGGED_BASE_OR_BOUNDS,
						(m) -> List.of(Fpdu.write(m.open().remoteKey(), m.open().remoteAddress() - 1, payload()))),
				wrong("Write at offset 0", TerminateError.DDP_TAGGED_BASE_OR_BOUNDS,
						(m) -> List.of(Fpdu.write(m.open().remoteKey(), 0, payload()))),
				wrong("Write without permission", TerminateError.RDMAP_ACCESS_RIGHTS,
						(m) -> List.of(Fpdu.write(m.readOnly().remoteKey(), m.readOnly().remoteAddress(), payload()))),
				wrong("Read Response nobody asked for", TerminateError.RDMAP_UNEXPECTED_OPCODE,
						(m) -> List.of(Fpdu.tagged(true, DdpControl.OPCODE_READ_RESPONSE, m.open().remoteKey(),
								m.open().remoteAddress(), payload()))));
	}

	private static Stream<ProtocolBreach> readCases() {
		return Stream.of(
				wrong("Read Request on queue 0", TerminateError.DDP_UNTAGGED_INVALID_QUEUE,
						(m) -> List.of(Fpdu.untagged(true, DdpControl.OPCODE_READ_REQUEST, 0, 0, 1, 0, new byte[28]))),
				wrong("Read Request number 2 first", TerminateError.DDP_UNTAGGED_MSN_RANGE,
						(m) -> List.of(Fpdu.readRequest(2, 1, 0, 8, m.open().remoteKey(), m.open().remoteAddress()))),
				wrong("Read Request with an offset", TerminateError.DDP_UNTAGGED_INVALID_OFFSET,
						(m) -> List.of(Fpdu.untagged(true, DdpControl.OPCODE_READ_REQUEST, 0, 1, 1, 4, new byte[28]))),
				wrong("Read Request too short", TerminateError.DDP_UNTAGGED_TOO_LONG,
						(m) -> List.of(Fpdu.untagged(true, DdpControl.OPCODE_READ_REQUEST, 0, 1, 1, 0, new byte[27]))),
				wrong("Read Request too long", TerminateError.DDP_UNTAGGED_TOO_LONG,
						(m) -> List.of(Fpdu.untagged(true, DdpControl.OPCODE_READ_REQUEST, 0, 1, 1, 0, new byte[29]))),
				wrong("Read Request not last", TerminateError.DDP_UNTAGGED_TOO_LONG,
						(m) -> List.of(Fpdu.untagged(false, DdpControl.OPCODE_READ_REQUEST, 0, 1, 1, 0, new byte[28]))),
				wrong("Read from an unknown STag", TerminateError.RDMAP_INVALID_STAG,
						(m) -> List.of(Fpdu.readRequest(1, 1, 0, 8, m.open().remoteKey() ^ 1, 0))),
				wrong("Read from another protection domain", TerminateError.RDMAP_STAG_NOT_ASSOCIATED,
						(m) -> List
							.of(Fpdu.readRequest(1, 1, 0, 8, m.foreign().remoteKey(), m.foreign().remoteAddress()))),
				wrong("Read that wraps at its source", TerminateError.RDMAP_TO_WRAP,
						(m) -> List.of(Fpdu.readRequest(1, 1, 0, 8, m.open().remoteKey(), -4))),
				wrong("Read that wraps at its sink", TerminateError.RDMAP_TO_WRAP,
						(m) -> List.of(Fpdu.readRequest(1, 1, -4, 8, m.open().remoteKey(), m.open().remoteAddress()))),
				wrong("Read beyond the end", TerminateError.RDMAP_BASE_OR_BOUNDS,
						(m) -> List.of(Fpdu.readRequest(1, 1, 0, REGION_BYTES + 1L, m.open().remoteKey(),
								m.open().remoteAddress()))),
				wrong("Read of 4 GiB", TerminateError.RDMAP_BASE_OR_BOUNDS,
						(m) -> List.of(Fpdu.readRequest(1, 1, 0, 0xFFFFFFFFL, m.open().remoteKey(),
								m.open().remoteAddress()))),
				wrong("Read without permission", TerminateError.RDMAP_ACCESS_RIGHTS,
						(m) -> List.of(Fpdu.readRequest(1, 1, 0, 8, m.local().remoteKey(), m.local().remoteAddress()))),
				wrong("Read refused after one that is served", TerminateError.RDMAP_BASE_OR_BOUNDS,
						(m) -> List.of(Fpdu.readRequest(1, 1, 0, 8, m.open().remoteKey(), m.open().remoteAddress()),
								Fpdu.readRequest(2, 1, 0, 8, m.open().remoteKey(), 0))));
	}

	private static Stream<ProtocolBreach> invalidateCases() {
		return Stream.of(
				wrong("Send that invalidates an unknown STag", TerminateError.RDMAP_INVALID_STAG,
						(m) -> List.of(invalidate(m.open().remoteKey() ^ 1))),
				wrong("Send that invalidates a local region", TerminateError.RDMAP_STAG_CANNOT_BE_INVALIDATED,
						(m) -> List.of(invalidate(m.local().remoteKey()))),
				wrong("Send that invalidates a foreign region", TerminateError.RDMAP_STAG_CANNOT_BE_INVALIDATED,
						(m) -> List.of(invalidate(m.foreign().remoteKey()))),
				wrong("Send that invalidates what is open to all", TerminateError.RDMAP_STAG_CANNOT_BE_INVALIDATED,
						(m) -> List.of(invalidate(m.open().remoteKey()))),
				wrong("Send that invalidates what was lent to another peer",
						TerminateError.RDMAP_STAG_CANNOT_BE_INVALIDATED,
						(m) -> List.of(invalidate(m.lentElsewhere().remoteKey()))),
				wrong("Write to what was lent to another peer", TerminateError.DDP_TAGGED_STAG_NOT_ASSOCIATED,
						(m) -> List.of(Fpdu.write(m.lentElsewhere().remoteKey(), m.lentElsewhere().remoteAddress(),
								payload()))),
				wrong("Read of what was lent to another peer", TerminateError.RDMAP_STAG_NOT_ASSOCIATED,
						(m) -> List.of(Fpdu.readRequest(1, 1, 0, 8, m.lentElsewhere().remoteKey(),
								m.lentElsewhere().remoteAddress()))));
	}

	private static byte[] invalidate(int stag) {
		return Fpdu.untagged(true, DdpControl.OPCODE_SEND_INVALIDATE, stag, 0, 1, 0, new byte[0]);
	}

	@Override
	public String toString() {
		return this.name;
	}

	/** Makes the segments of a breach. */
	@FunctionalInterface
	interface Segments {

		/** The segments, given the memory there is. */
		List<byte[]> make(Memory memory);

	}

	/**
	 * Memory of the side under attack.
	 *
	 * @param open readable and writable by peers
	 * @param readOnly readable by peers
	 * @param local not for peers
	 * @param foreign of another protection domain
	 * @param lent to this peer
	 * @param lentElsewhere to another peer
	 */
	record Memory(MemoryRegion open, MemoryRegion readOnly, MemoryRegion local, MemoryRegion foreign, MemoryRegion lent,
			MemoryRegion lentElsewhere) {

		List<MemoryRegion> all() {
			return List.of(this.open, this.readOnly, this.local, this.foreign, this.lent, this.lentElsewhere);
		}

	}

}
