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

package dev.rdmarpc.tools.ping;

import java.io.DataInputStream;
import java.io.IOException;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.HexFormat;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.Test;

import dev.rdmarpc.verbs.VerbsDevice;
import dev.rdmarpc.verbs.iwarp.CrcMode;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A session of {@code rping} over the software iWARP of Linux, as captured: its bytes are
 * played by hand, so nothing here is made or read by the classes under test. Only the
 * names of the memory that our side chooses are put in.
 */
class RpingBytesTests {

	private static final HexFormat HEX = HexFormat.of();

	private static final String REQUEST = "4d504120494420526571204672616d65" + "10020004" + "00010001";

	private static final String REPLY = "4d504120494420526570204672616d65" + "10020004";

	private static final String NO_CRC = "00000000";

	/** {@code rdma-ping-0: ABC…}, 64 bytes. */
	private static final String DATA = "72646d612d70696e672d303a20414243" + "4445464748494a4b4c4d4e4f50515253"
			+ "5455565758595a5b5c5d5e5f60616263" + "6465666768696a6b6c6d6e6f70717200";

	private static final String SOURCE = "655d5400" + "000055a4013c2b90";

	private static final String SINK = "96d2c100" + "000055a4013bf560";

	private static final String SIZE = "00000040";

	private static String send(int number, String payload) {
		return "00224143" + "00000000" + "00000000" + HEX.toHexDigits(number) + "00000000" + payload + NO_CRC;
	}

	private static String advertisement(String place) {
		return place.substring(8) + place.substring(0, 8) + SIZE;
	}

	private static String read(Socket socket, int length) throws IOException {
		return HEX.formatHex(new DataInputStream(socket.getInputStream()).readNBytes(length));
	}

	private static void write(Socket socket, String hex) throws IOException {
		socket.getOutputStream().write(HEX.parseHex(hex));
	}

	@Test
	void theResponderAnswersThoseOfAnInitiator() throws Exception {
		try (PingFixture fixture = new PingFixture(CrcMode.OFF, CrcMode.OFF); Socket rping = new Socket()) {
			rping.setSoTimeout((int) PingFixture.TIMEOUT.toMillis());
			rping.connect(fixture.responder.localAddress());
			write(rping, REQUEST);
			assertThat(read(rping, 24)).startsWith(REPLY);
			write(rping, send(1, advertisement(SOURCE)));
			String request = read(rping, 2 + 46 + 4);
			assertThat(request).startsWith("002e4141" + "00000000" + "00000001" + "00000001" + "00000000")
				.endsWith(SIZE + SOURCE + NO_CRC);
			String sink = request.substring(40, 64);
			write(rping, "004ec142" + sink + DATA + NO_CRC);
			assertThat(read(rping, 2 + 34 + 4)).isEqualTo(send(1, "00".repeat(16)));
			write(rping, send(2, advertisement(SINK)));
			assertThat(read(rping, 2 + 78 + 4)).isEqualTo("004ec140" + SINK + DATA + NO_CRC);
			assertThat(read(rping, 2 + 34 + 4)).isEqualTo(send(2, "00".repeat(16)));
			rping.shutdownOutput();
			PingOutcome outcome = fixture.outcome();
			assertThat(outcome.failure()).isNull();
			assertThat(outcome.bytes()).isEqualTo(64);
			assertThat(rping.getInputStream().read()).as("the end").isEqualTo(-1);
		}
	}

	@Test
	void theInitiatorPingsThoseOfAResponder() throws Exception {
		try (ServerSocket server = new ServerSocket(); VerbsDevice device = PingFixture.open(CrcMode.OFF)) {
			server.bind(PingFixture.loopback(0));
			CompletableFuture<PingReport> pinged = CompletableFuture.supplyAsync(() -> new PingInitiator(device,
					new PingAddress("127.0.0.1", server.getLocalPort()), PingFixture.plan(64, 1), (info) -> {
					})
				.run());
			try (Socket rping = server.accept()) {
				rping.setSoTimeout((int) PingFixture.TIMEOUT.toMillis());
				assertThat(read(rping, 24)).isEqualTo("4d504120494420526571204672616d65" + "10020004" + "80108010");
				write(rping, REPLY + "80018001");
				assertThat(read(rping, 20)).as("that rping may speak")
					.isEqualTo("000ec140" + "00000001" + "0000000000000000" + NO_CRC);
				String advertised = read(rping, 2 + 34 + 4);
				assertThat(advertised).startsWith(send(1, "").substring(0, 40)).endsWith(SIZE + NO_CRC);
				String source = advertised.substring(56, 64) + advertised.substring(40, 56);
				write(rping,
						"002e4141" + "00000000" + "00000001" + "00000001" + "00000000" + SINK + SIZE + source + NO_CRC);
				assertThat(read(rping, 2 + 78 + 4)).isEqualTo("004ec142" + SINK + DATA + NO_CRC);
				write(rping, send(1, "00".repeat(16)));
				advertised = read(rping, 2 + 34 + 4);
				assertThat(advertised).startsWith(send(2, "").substring(0, 40)).endsWith(SIZE + NO_CRC);
				String sink = advertised.substring(56, 64) + advertised.substring(40, 56);
				write(rping, "004ec140" + sink + DATA + NO_CRC + send(2, "00".repeat(16)));
				assertThat(rping.getInputStream().read()).as("the end").isEqualTo(-1);
			}
			assertThat(pinged.get(10, TimeUnit.SECONDS).latencies().getTotalCount()).isEqualTo(1);
		}
	}

}
