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

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import dev.rdmarpc.memory.MemoryOptions;
import dev.rdmarpc.memory.RegisteredMemory;
import dev.rdmarpc.rpc.RpcClient;
import dev.rdmarpc.rpc.RpcServer;
import dev.rdmarpc.rpc.RpcServerOptions;
import dev.rdmarpc.transport.ProviderSelection;
import dev.rdmarpc.transport.RdmaTransport;
import dev.rdmarpc.transport.TransportOptions;
import dev.rdmarpc.verbs.WorkRequest;
import dev.rdmarpc.verbs.WorkStatus;
import dev.rdmarpc.verbs.iwarp.wire.DdpControl;
import dev.rdmarpc.verbs.iwarp.wire.DdpUntaggedFlyweight;
import dev.rdmarpc.verbs.iwarp.wire.TerminateError;

import static org.assertj.core.api.Assertions.assertThat;

/** What Wireshark makes of the bytes between two endpoints of the provider. */
@Tag("slow")
class CaptureTests {

	/** MPA request with enhanced data and the zero-length Write that opens the way. */
	private static final int START_UP_BYTES = 24 + 20;

	@TempDir
	private Path directory;

	@BeforeAll
	static void tsharkIsInstalled() {
		Assumptions.assumeTrue(Tshark.isInstalled(), "tshark is not installed (Debian: tshark)");
	}

	static Stream<Variant> variants() {
		IwarpOptions crc = IwarpOptions.DEFAULTS.withCrc(CrcMode.REQUIRED);
		IwarpOptions plain = IwarpOptions.DEFAULTS.withCrc(CrcMode.OFF);
		int ethernet = SocketTuning.maxUlpduBytes(1500, false);
		int segment = CaptureFile.ETHERNET_SEGMENT_BYTES;
		int largest = CaptureFile.LARGEST_SEGMENT_BYTES;
		return Stream.of(new Variant("CRC, FPDUs as large as may be", crc, crc, false, segment),
				new Variant("CRC, FPDUs and TCP segments as large as may be", crc, crc, false, largest),
				new Variant("CRC, FPDUs for Ethernet", crc.withMaxUlpduBytes(ethernet), crc.withMaxUlpduBytes(ethernet),
						false, segment),
				new Variant("CRC, no peer-to-peer set-up", crc.withPeerToPeer(false), crc, false, largest),
				new Variant("CRC, revision 1, FPDUs for Ethernet", crc.withMaxUlpduBytes(ethernet),
						crc.withMaxUlpduBytes(ethernet), true, segment),
				new Variant("CRC that only the server asks for", plain, crc, false, largest),
				new Variant("CRC that only the client asks for", crc, plain, true, largest),
				new Variant("no CRC", plain, plain, false, segment),
				new Variant("no CRC, short FPDUs", plain.withMaxUlpduBytes(IwarpOptions.MIN_ULPDU_BYTES),
						plain.withMaxUlpduBytes(IwarpOptions.MIN_ULPDU_BYTES), false, largest),
				new Variant("no CRC, TCP segments that end anywhere in an FPDU", plain, plain, false, 149),
				new Variant("no CRC, revision 1", plain, plain, true, largest));
	}

	@ParameterizedTest
	@MethodSource("variants")
	void everyFrameIsRecognised(Variant variant) throws Exception {
		try (CaptureSession session = new CaptureSession(variant.client, variant.server, variant.revision1 ? 1 : 0,
				RecordingProxy.NOWHERE)) {
			session.exchange();
			Recording recording = session.end();
			Dissection dissection = Tshark.in(this.directory).dissect(recording, variant.segmentBytes);
			assertThat(dissection.complaints()).isEmpty();
			checkStartUp(dissection, variant);
			int connection = session.connection();
			checkFrames(dissection, recording, connection, session.client, true);
			checkFrames(dissection, recording, connection, session.server, false);
			checkCrc(dissection, variant.crcEnabled());
		}
	}

	private static void checkStartUp(Dissection dissection, Variant variant) {
		List<Long> revisions = variant.revision1 ? List.of(2L, 1L, 1L) : List.of(2L, 2L);
		assertThat(dissection.numbers("iwarp_mpa.rev")).isEqualTo(revisions);
		assertThat(dissection.all("iwarp_mpa.req")).hasSize(revisions.size() - 1);
		assertThat(dissection.all("iwarp_mpa.rep")).hasSize(1);
		assertThat(dissection.numbers("iwarp_mpa.marker_flag")).containsOnly(0L);
		assertThat(dissection.numbers("iwarp_mpa.rej_flag")).containsOnly(0L);
		boolean asked = variant.client.crc() == CrcMode.REQUIRED;
		List<Long> crc = dissection.numbers("iwarp_mpa.crc_flag");
		assertThat(crc.get(0)).isEqualTo(asked ? 1 : 0);
		assertThat(crc.get(crc.size() - 1)).isEqualTo(variant.crcEnabled() ? 1 : 0);
	}

	private static void checkFrames(Dissection dissection, Recording recording, int connection,
			CaptureSession.Side side, boolean fromClient) {
		List<CapturedFrame> recognised = dissection.frames(connection, fromClient);
		assertThat(recognised).isEqualTo(CapturedFrame.parse(recording.stream(connection, fromClient)));
		int[] counts = new int[side.frames.length];
		for (CapturedFrame frame : recognised) {
			counts[frame.opcode()]++;
		}
		assertThat(counts).as("frames by opcode").isEqualTo(side.frames);
		assertThat(lengthsOfSends(recognised)).isEqualTo(side.sends);
	}

	/** Puts the Sends together again, by number and offset. */
	private static List<Long> lengthsOfSends(List<CapturedFrame> frames) {
		List<Long> lengths = new ArrayList<>();
		long offset = 0;
		for (CapturedFrame frame : frames) {
			if (frame.opcode() < DdpControl.OPCODE_SEND
					|| frame.opcode() > DdpControl.OPCODE_SEND_SOLICITED_INVALIDATE) {
				continue;
			}
			assertThat(frame.target()).isEqualTo(DdpControl.QUEUE_SEND);
			assertThat(frame.position()).as("message sequence number").isEqualTo(lengths.size() + 1);
			assertThat(frame.offset()).as("message offset").isEqualTo(offset);
			offset += frame.ulpduBytes() - DdpUntaggedFlyweight.HEADER_BYTES;
			if (frame.last()) {
				lengths.add(offset);
				offset = 0;
			}
		}
		return lengths;
	}

	/** Wireshark shows the field under one name if it has checked it, else the other. */
	private static void checkCrc(Dissection dissection, boolean crcEnabled) {
		int frames = dissection.all("iwarp_mpa.fpdu").size();
		assertThat(frames).isEqualTo(dissection.all("iwarp_rdma.opcode").size()).isPositive();
		assertThat(dissection.all("iwarp_mpa.crc_check")).hasSize(crcEnabled ? frames : 0)
			.allSatisfy((field) -> assertThat(field.text()).endsWith("(Good CRC32)"));
		assertThat(dissection.numbers("iwarp_mpa.crc")).hasSize(crcEnabled ? 0 : frames).allMatch((crc) -> crc == 0);
	}

	@Test
	void callsAreRecognised() throws Exception {
		IwarpOptions options = IwarpOptions.DEFAULTS.withCrc(CrcMode.REQUIRED).withMaxUlpduBytes(1442);
		ProviderSelection selection = ProviderSelection.select(IwarpProvider.NAME, List.of(new IwarpProvider(options)));
		Recording recording;
		try (RegisteredMemory memory = RegisteredMemory.create(MemoryOptions.DEFAULTS);
				RdmaTransport transport = RdmaTransport.open(TransportOptions.DEFAULTS, selection, memory)) {
			try (RpcServer server = RpcServer.builder()
				.transport(transport)
				.options(RpcServerOptions.DEFAULTS.withLoopback(0))
				.service(Repeater.class, String::repeat)
				.build()
				.start();
					RecordingProxy proxy = new RecordingProxy(
							new InetSocketAddress(InetAddress.getLoopbackAddress(), server.port()))) {
				recording = proxy.recording();
				try (RpcClient client = RpcClient.builder()
					.transport(transport)
					.target("127.0.0.1", proxy.address().getPort())
					.build()) {
					Repeater repeater = client.proxy(Repeater.class);
					for (int length : new int[] { 0, 3, 2000, 30_000 }) {
						String text = "x".repeat(length);
						assertThat(repeater.repeat(text, 2)).isEqualTo(text + text);
					}
				}
				recording.awaitEnds(2);
			}
		}
		Dissection dissection = Tshark.in(this.directory).dissect(recording, CaptureFile.ETHERNET_SEGMENT_BYTES);
		assertThat(dissection.complaints()).isEmpty();
		checkCrc(dissection, true);
		for (boolean fromClient : new boolean[] { true, false }) {
			List<CapturedFrame> frames = dissection.frames(0, fromClient);
			assertThat(frames).isEqualTo(CapturedFrame.parse(recording.stream(0, fromClient)));
			assertThat(frames).filteredOn(CapturedFrame::last).hasSizeGreaterThan(4);
			assertThat(frames.stream().mapToInt(CapturedFrame::ulpduBytes).sum()).isGreaterThan(32_000);
		}
	}

	static Stream<Breach> breaches() {
		int end = CaptureSession.REGION_BYTES - 8;
		return Stream.of(
				new Breach(TerminateError.RDMAP_BASE_OR_BOUNDS,
						(side, other) -> side.request()
							.read(1, other.memory.remoteAddress() + end, other.memory.remoteKey())),
				new Breach(TerminateError.DDP_TAGGED_BASE_OR_BOUNDS,
						(side, other) -> side.request()
							.write(1, other.memory.remoteAddress() + end, other.memory.remoteKey())),
				new Breach(TerminateError.DDP_TAGGED_INVALID_STAG, (side, other) -> side.request().write(1, 0, 0x1234)),
				new Breach(TerminateError.DDP_UNTAGGED_NO_BUFFER, (side, other) -> side.request().send(1)),
				new Breach(TerminateError.RDMAP_INVALID_STAG, (side, other) -> {
					other.receive(1);
					return side.request().sendWithInvalidate(1, 0x1234);
				}));
	}

	@ParameterizedTest
	@MethodSource("breaches")
	void terminateIsRecognisedWithWhatItSays(Breach breach) throws Exception {
		IwarpOptions options = IwarpOptions.DEFAULTS.withCrc(CrcMode.REQUIRED);
		try (CaptureSession session = new CaptureSession(options, options, 0, RecordingProxy.NOWHERE)) {
			session.client.post(breach.request.make(session.client, session.server), 16);
			Recording recording = session.awaitEnd();
			Dissection dissection = Tshark.in(this.directory).dissect(recording, CaptureFile.ETHERNET_SEGMENT_BYTES);
			assertThat(dissection.complaints()).isEmpty();
			assertThat(dissection.frames(0, true)).isEqualTo(CapturedFrame.parse(recording.stream(0, true)));
			checkTerminate(dissection, breach.error);
			boolean read = breach.error == TerminateError.RDMAP_BASE_OR_BOUNDS;
			assertThat(dissection.numbers("iwarp_rdma.term_hdrct_m")).containsExactly(1L);
			assertThat(dissection.numbers("iwarp_rdma.hdrct_d")).containsExactly(1L);
			assertThat(dissection.numbers("iwarp_rdma.hdrct_r")).containsExactly(read ? 1L : 0L);
			assertThat(dissection.all("iwarp_rdma.term_ddp_h")).hasSize(1);
			assertThat(dissection.all("iwarp_rdma.term_rdma_h")).hasSize(read ? 1 : 0);
		}
	}

	private static void checkTerminate(Dissection dissection, TerminateError error) {
		assertThat(dissection.frames(0, false)).last().satisfies((frame) -> {
			assertThat(frame.opcode()).isEqualTo(DdpControl.OPCODE_TERMINATE);
			assertThat(frame.target()).isEqualTo(DdpControl.QUEUE_TERMINATE);
		});
		String type = List.of("rdma", "ddp", "llp").get(error.layer());
		String code = (error.layer() != 1) ? type : List.of("", "ddp_tagged", "ddp_untagged").get(error.type());
		assertThat(dissection.numbers("iwarp_rdma.term_layer")).containsExactly((long) error.layer());
		assertThat(dissection.numbers("iwarp_rdma.term_etype_" + type)).containsExactly((long) error.type());
		assertThat(dissection.numbers("iwarp_rdma.term_errcode_" + code)).containsExactly((long) error.code());
	}

	@Test
	void wrongCrcAndTheTerminateForItAreRecognised() throws Exception {
		IwarpOptions options = IwarpOptions.DEFAULTS.withCrc(CrcMode.REQUIRED);
		try (CaptureSession session = new CaptureSession(options, options, 0, START_UP_BYTES + 30)) {
			session.server.receive(1);
			session.client.post(session.client.request().send(1), 500);
			Recording recording = session.awaitEnd();
			assertThat(session.server.endpoint.completions)
				.allMatch((completion) -> completion.status() == WorkStatus.FLUSHED);
			Dissection dissection = Tshark.in(this.directory).dissect(recording, CaptureFile.ETHERNET_SEGMENT_BYTES);
			assertThat(dissection.complaints()).singleElement().asString().contains("Bad CRC");
			assertThat(dissection.all("iwarp_mpa.crc_check")).hasSize(3);
			checkTerminate(dissection, TerminateError.MPA_CRC);
		}
	}

	@Test
	void everyFlippedBitUnderCrcIsNoticed() throws Exception {
		Recording recording = shortSession(CrcMode.REQUIRED);
		int frames = CapturedFrame.parse(recording.stream(0, true)).size();
		assertThat(dissect(recording).complaints()).isEmpty();
		int frame = START_UP_BYTES;
		for (int position : new int[] { 2, 3, 5, 10, 19, 24, 34, 36, 39 }) {
			Dissection dissection = dissect(recording.withFlippedBit(0, true, frame + position));
			assertThat(dissection.complaints()).as("byte %d", position)
				.anySatisfy((complaint) -> assertThat(complaint).contains("Bad CRC"));
			assertThat(dissection.all("iwarp_mpa.crc_check")).hasSize(frames);
		}
	}

	@Test
	void flippedBitsInHeadersAreNoticedWithoutCrc() throws Exception {
		Recording recording = shortSession(CrcMode.OFF);
		List<CapturedFrame> frames = CapturedFrame.parse(recording.stream(0, true));
		assertThat(dissect(recording).frames(0, true)).isEqualTo(frames);
		int request = 3;
		for (int position : new int[] { request, START_UP_BYTES, START_UP_BYTES + 1, START_UP_BYTES + 3,
				START_UP_BYTES + 11, START_UP_BYTES + 15, START_UP_BYTES + 19 }) {
			Dissection dissection = dissect(recording.withFlippedBit(0, true, position));
			assertThat(dissection.frames(0, true)).as("byte %d", position).isNotEqualTo(frames);
		}
	}

	private Dissection dissect(Recording recording) throws Exception {
		return Tshark.in(this.directory).dissect(recording, CaptureFile.ETHERNET_SEGMENT_BYTES);
	}

	/** Two Sends of 13 bytes from the client, the first {@link #START_UP_BYTES} after. */
	private static Recording shortSession(CrcMode crc) throws Exception {
		IwarpOptions options = IwarpOptions.DEFAULTS.withCrc(crc);
		try (CaptureSession session = new CaptureSession(options, options, 0, RecordingProxy.NOWHERE)) {
			session.server.receive(2);
			for (int i = 0; i < 2; i++) {
				session.client.post(session.client.request().send(session.client.nextId()), 13);
			}
			session.await(() -> session.client.isDone() && session.server.received() == 2);
			return session.end();
		}
	}

	/**
	 * Settings of a session.
	 *
	 * @param name what is special
	 * @param client settings of the side that connects
	 * @param server settings of the side that accepts
	 * @param revision1 whether the first attempt, in revision 2, is not understood
	 * @param segmentBytes payload of a TCP segment in the capture
	 */
	record Variant(String name, IwarpOptions client, IwarpOptions server, boolean revision1, int segmentBytes) {

		boolean crcEnabled() {
			return this.client.crc() == CrcMode.REQUIRED || this.server.crc() == CrcMode.REQUIRED;
		}

		@Override
		public String toString() {
			return this.name;
		}

	}

	/**
	 * Something that the server must refuse.
	 *
	 * @param error the Terminate for it
	 * @param request makes the request
	 */
	record Breach(TerminateError error, Request request) {

		@Override
		public String toString() {
			return this.error.toString();
		}

	}

	/** Makes a request, to which a segment is added. */
	@FunctionalInterface
	interface Request {

		WorkRequest make(CaptureSession.Side side, CaptureSession.Side other);

	}

	/** A service to be called. */
	public interface Repeater {

		/** The text so many times. */
		String repeat(String text, int count);

	}

}
