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

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.EnumSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.Test;

import dev.rdmarpc.memory.MemoryOptions;
import dev.rdmarpc.memory.RegisteredMemory;
import dev.rdmarpc.rpc.RpcServer;
import dev.rdmarpc.rpc.RpcServerOptions;
import dev.rdmarpc.transport.RdmaTransport;
import dev.rdmarpc.transport.TransportOptions;
import dev.rdmarpc.verbs.AccessFlag;
import dev.rdmarpc.verbs.ConnectOptions;
import dev.rdmarpc.verbs.ConnectionInfo;
import dev.rdmarpc.verbs.ConnectionListener;
import dev.rdmarpc.verbs.ListenOptions;
import dev.rdmarpc.verbs.MemoryRegion;
import dev.rdmarpc.verbs.RemoteRegion;
import dev.rdmarpc.verbs.VerbsDevice;
import dev.rdmarpc.verbs.iwarp.CrcMode;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** What an initiator says about a port where something else than a responder listens. */
class StrangePeerTests {

	private static PingException failure(int port, Duration timeout) {
		PingPlan plan = new PingPlan(64, 10, 0, true, timeout);
		try (VerbsDevice device = PingFixture.open(CrcMode.OFF)) {
			PingInitiator initiator = new PingInitiator(device, new PingAddress("127.0.0.1", port), plan, (info) -> {
			});
			return assertThatExceptionOfType(PingException.class).isThrownBy(initiator::run).actual();
		}
	}

	private static PingException failure(int port) {
		return failure(port, PingFixture.TIMEOUT);
	}

	@Test
	void nobodyListens() throws Exception {
		int port;
		try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
			port = socket.getLocalPort();
		}
		assertThat(failure(port)).hasMessageStartingWith("nobody listens on 127.0.0.1:" + port);
	}

	@Test
	void aWebServer() throws Exception {
		try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
			CompletableFuture<Void> answered = CompletableFuture.runAsync(() -> {
				try (Socket socket = server.accept()) {
					socket.getInputStream().read();
					socket.getOutputStream()
						.write("HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n"
							.getBytes(StandardCharsets.US_ASCII));
					socket.getInputStream().readAllBytes();
				}
				catch (IOException ex) {
					// the initiator has left in its own way
				}
			});
			assertThat(failure(server.getLocalPort()))
				.hasMessageStartingWith("what listens on 127.0.0.1:" + server.getLocalPort() + " does not speak RDMA");
			answered.get(10, TimeUnit.SECONDS);
		}
	}

	@Test
	void somebodySilent() throws Exception {
		try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
			assertThat(failure(server.getLocalPort(), Duration.ofMillis(300)))
				.hasMessageStartingWith("127.0.0.1:" + server.getLocalPort() + " did not answer in time");
		}
	}

	@Test
	void anRpcServer() {
		try (RegisteredMemory memory = RegisteredMemory.create(MemoryOptions.DEFAULTS);
				RdmaTransport transport = RdmaTransport.open(TransportOptions.DEFAULTS, memory);
				RpcServer server = RpcServer.builder()
					.transport(transport)
					.options(RpcServerOptions.DEFAULTS.withLoopback(0))
					.service(Runnable.class, () -> {
					})
					.build()
					.start()) {
			assertThat(failure(server.port())).hasMessageStartingWith("the peer closed the connection")
				.hasMessageContaining("; is it the port of a responder, with room for 64 bytes");
		}
	}

	@Test
	void somebodyWhoRejects() throws Exception {
		try (VerbsDevice device = PingFixture.open(CrcMode.OFF);
				ConnectionListener listener = device.listen(PingFixture.loopback(0), ListenOptions.DEFAULTS,
						(request) -> request.reject(new byte[0]))) {
			assertThat(failure(listener.localAddress().getPort())).hasMessageStartingWith(
					"127.0.0.1:" + listener.localAddress().getPort() + " speaks RDMA but rejected the connection");
		}
	}

	@Test
	void aResponderThatChangesAByte() throws Exception {
		assertThat(failureOfResponder((connection) -> {
			RemoteRegion source = connection.receive("source");
			MemoryRegion data = connection.register(64, EnumSet.of(AccessFlag.LOCAL_WRITE));
			connection.read(source, data, 64, "data");
			data.memory().put(63, (byte) 7);
			connection.send(source, "go on");
			connection.write(data, connection.receive("sink"), 64, "data");
			connection.send(source, "go on");
		})).hasMessage("the data of ping 1 of 10 that came back is wrong: byte 63 of 64 is 0x07 (expected: 0x00)");
	}

	@Test
	void aResponderThatWritesBehindTheEnd() throws Exception {
		assertThat(failureOfResponder((connection) -> {
			RemoteRegion source = connection.receive("source");
			MemoryRegion data = connection.register(65, EnumSet.of(AccessFlag.LOCAL_WRITE));
			connection.send(source, "go on");
			connection.write(data, connection.receive("sink"), 65, "data");
			connection.send(source, "go on");
		})).hasMessageStartingWith("this side found an error and ended the connection (")
			.hasMessageEndingWith("while waiting for the data of ping 1 of 10 to come back");
	}

	@Test
	void aResponderThatReadsWhatItMayNot() throws Exception {
		assertThat(failureOfResponder((connection) -> {
			RemoteRegion source = connection.receive("source");
			MemoryRegion data = connection.register(64, EnumSet.of(AccessFlag.LOCAL_WRITE));
			connection.read(new RemoteRegion(source.address(), source.key() + 1, 64), data, 64, "data");
		})).hasMessageStartingWith("this side found an error and ended the connection (")
			.hasMessageContaining("while waiting for the data of ping 1 of 10 to be read");
	}

	/** What the initiator says about somebody who answers a ping in his own way. */
	private static PingException failureOfResponder(Answer answer) throws Exception {
		try (VerbsDevice device = PingFixture.open(CrcMode.OFF);
				PingConnection connection = new PingConnection(device, PingFixture.TIMEOUT)) {
			CompletableFuture<ConnectionInfo> established = new CompletableFuture<>();
			try (ConnectionListener listener = device.listen(PingFixture.loopback(0), ListenOptions.DEFAULTS,
					(request) -> request.accept(connection.queuePair(), ConnectOptions.DEFAULTS)
						.whenComplete((info, failure) -> established.complete(info)))) {
				CompletableFuture<Void> answered = established.thenAcceptAsync((info) -> {
					try {
						answer.to(connection);
						connection.awaitReceived("the end", PingFixture.TIMEOUT);
					}
					catch (PingException ex) {
						// the initiator has left
					}
				});
				PingException failure = failure(listener.localAddress().getPort());
				answered.get(20, TimeUnit.SECONDS);
				return failure;
			}
		}
	}

	/** How somebody answers a ping. */
	@FunctionalInterface
	private interface Answer {

		void to(PingConnection connection);

	}

}
