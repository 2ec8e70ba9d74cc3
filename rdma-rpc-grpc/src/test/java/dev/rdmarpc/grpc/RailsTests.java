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

package dev.rdmarpc.grpc;

import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import javax.net.ssl.SSLContext;

import io.grpc.CallOptions;
import io.grpc.ConnectivityState;
import io.grpc.ManagedChannel;
import io.grpc.Server;
import io.grpc.ServerServiceDefinition;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.ServerCalls;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import dev.rdmarpc.TestCertificates;
import dev.rdmarpc.transport.ChannelOptions;
import dev.rdmarpc.transport.ChannelSecurity;
import dev.rdmarpc.transport.ChannelSnapshot;
import dev.rdmarpc.transport.Rail;
import dev.rdmarpc.verbs.TlsOptions;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** Servers and channels on transports with several rails. */
@Timeout(60)
class RailsTests {

	private final Path directory = newDirectory();

	private static Path newDirectory() {
		try {
			return Files.createTempDirectory("rdma",
					PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
		}
		catch (IOException ex) {
			throw new IllegalStateException(ex);
		}
	}

	@AfterEach
	void nothingIsLeft() throws IOException {
		try (Stream<Path> left = Files.list(this.directory)) {
			left.forEach((file) -> assertThat(file).hasFileName(".lock"));
		}
	}

	private GrpcFixture fixture(String... providers) {
		return new GrpcFixture(this.directory, providers);
	}

	private static Server serve(GrpcFixture fixture) throws Exception {
		return serve(fixture, ChannelSecurity.NONE);
	}

	private static Server serve(GrpcFixture fixture, ChannelSecurity security) throws Exception {
		ChannelOptions options = ChannelOptions.DEFAULTS.withSecurity(security);
		return fixture.serve((builder) -> builder.channelOptions(options)
			.addService(ServerServiceDefinition.builder(Bytes.SERVICE)
				.addMethod(Bytes.UNARY, ServerCalls.asyncUnaryCall((request, observer) -> {
					observer.onNext(request);
					observer.onCompleted();
				}))
				.build()));
	}

	/** With certificates that are made before a handshake begins: they take seconds. */
	private static ChannelSecurity withTls(TestCertificates own, TestCertificates trusted) {
		SSLContext context = own.context(trusted);
		return ChannelSecurity.NONE.withTls(TlsOptions.of(() -> context));
	}

	/**
	 * Also where the first handshake takes too long, as it may while classes are loaded.
	 */
	private static void call(ManagedChannel channel) {
		call(channel, CallOptions.DEFAULT.withWaitForReady());
	}

	private static void call(ManagedChannel channel, CallOptions options) {
		byte[] sent = new byte[100];
		assertThat(ClientCalls.blockingUnaryCall(channel, Bytes.UNARY, options.withDeadlineAfter(30, TimeUnit.SECONDS),
				sent))
			.isEqualTo(sent);
	}

	/** By which rails there are connections from a transport. */
	private static List<String> rails(GrpcFixture fixture) {
		return fixture.transport()
			.loops()
			.stream()
			.filter((loop) -> loop.channels().stream().map(ChannelSnapshot::of).anyMatch(ChannelSnapshot::initiator))
			.map((loop) -> loop.rail())
			.toList();
	}

	@Test
	void aServerOnThisHostIsReachedThroughSharedMemory() throws Exception {
		try (GrpcFixture fixture = fixture("auto")) {
			Server server = serve(fixture);
			call(fixture.connect(server, (builder) -> {
			}));
			assertThat(rails(fixture)).containsExactly("shm");
		}
	}

	@Test
	void whoHasNoSharedMemoryReachesTheSameServer() throws Exception {
		try (GrpcFixture serving = fixture("shm", "iwarp"); GrpcFixture calling = fixture("iwarp")) {
			Server server = serve(serving);
			call(calling.connect(server, (builder) -> {
			}));
			assertThat(rails(calling)).containsExactly("iwarp");
		}
	}

	@Test
	void encryptedConnectionsTakeARailThatEncrypts() throws Exception {
		ChannelSecurity server = withTls(TestCertificates.server(), TestCertificates.client());
		ChannelSecurity client = withTls(TestCertificates.client(), TestCertificates.server());
		try (GrpcFixture fixture = fixture("shm", "iwarp")) {
			Server served = serve(fixture, server);
			call(fixture.connect(served,
					(builder) -> builder.channelOptions(ChannelOptions.DEFAULTS.withSecurity(client))));
			assertThat(rails(fixture)).containsExactly("iwarp");
		}
	}

	@Test
	void whereNoRailEncryptsBothSidesSaySo() {
		ChannelSecurity security = withTls(TestCertificates.client(), TestCertificates.server());
		try (GrpcFixture fixture = fixture("shm")) {
			assertThatExceptionOfType(IOException.class).isThrownBy(() -> serve(fixture, security))
				.withMessageContaining("cannot protect connections with TLS");
			ManagedChannel channel = fixture.connect(40404,
					(builder) -> builder.channelOptions(ChannelOptions.DEFAULTS.withSecurity(security)));
			assertThatExceptionOfType(StatusRuntimeException.class).isThrownBy(() -> call(channel, CallOptions.DEFAULT))
				.withMessageContaining("cannot protect connections with TLS");
		}
	}

	@Test
	void aRailThatNobodyAnswersOnIsPassedOver() throws Exception {
		try (GrpcFixture serving = fixture("iwarp");
				GrpcFixture calling = fixture("shm", "iwarp");
				ServerSocketChannel silent = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
			Server server = serve(serving);
			Path socket = this.directory.resolve(server.getPort() + ".socket");
			silent.bind(UnixDomainSocketAddress.of(socket));
			long begin = System.nanoTime();
			call(calling.connect(server, (builder) -> {
			}));
			assertThat(System.nanoTime() - begin).isGreaterThanOrEqualTo(Rail.ATTEMPT_TIMEOUT.toNanos());
			assertThat(rails(calling)).containsExactly("iwarp");
			Files.delete(socket);
		}
	}

	@Test
	void whatAKilledServerHasLeftCostsNothing() throws Exception {
		try (GrpcFixture serving = fixture("iwarp"); GrpcFixture calling = fixture("shm", "iwarp")) {
			Server server = serve(serving);
			try (ServerSocketChannel killed = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
				killed.bind(UnixDomainSocketAddress.of(this.directory.resolve(server.getPort() + ".socket")));
			}
			call(calling.connect(server, (builder) -> {
			}));
			assertThat(rails(calling)).containsExactly("iwarp");
		}
	}

	@Test
	void aChannelEndsWhileItTriesItsRails() throws Exception {
		try (GrpcFixture calling = fixture("shm", "iwarp");
				ServerSocketChannel silent = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
			Path socket = this.directory.resolve("40404.socket");
			silent.bind(UnixDomainSocketAddress.of(socket));
			ManagedChannel channel = calling.connect(40404, (builder) -> {
			});
			assertThat(channel.getState(true)).isIn(ConnectivityState.IDLE, ConnectivityState.CONNECTING);
			assertThat(channel.shutdownNow().awaitTermination(30, TimeUnit.SECONDS)).isTrue();
			Files.delete(socket);
		}
	}

	@Test
	void whereNoRailHasAServerTheLastOneSaysWhy() {
		try (GrpcFixture calling = fixture("shm", "iwarp")) {
			ManagedChannel channel = calling.connect(1, (builder) -> {
			});
			assertThatExceptionOfType(StatusRuntimeException.class).isThrownBy(() -> call(channel, CallOptions.DEFAULT))
				.satisfies((ex) -> assertThat(ex.getStatus().getCode()).isEqualTo(Status.Code.UNAVAILABLE))
				.withMessageContaining("Connection refused");
		}
	}

}
