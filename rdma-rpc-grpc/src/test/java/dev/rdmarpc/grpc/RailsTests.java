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
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

import javax.net.ssl.SSLContext;

import com.google.common.util.concurrent.ListenableFuture;
import io.grpc.CallOptions;
import io.grpc.ConnectivityState;
import io.grpc.ManagedChannel;
import io.grpc.Server;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.ServerCalls.UnaryMethod;
import io.grpc.stub.StreamObserver;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import dev.rdmarpc.TestCertificates;
import dev.rdmarpc.TestEnvironment;
import dev.rdmarpc.transport.ChannelOptions;
import dev.rdmarpc.transport.ChannelSecurity;
import dev.rdmarpc.transport.ChannelSnapshot;
import dev.rdmarpc.transport.RailOptions;
import dev.rdmarpc.verbs.TlsOptions;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** Servers and channels on transports with several rails. */
@Timeout(60)
class RailsTests {

	/** A test of what is better must not wait for it. */
	private static final RailOptions IMPATIENT = RailOptions.DEFAULTS
		.withTimes(TestEnvironment.scaled(Duration.ofMillis(300)), TestEnvironment.scaled(Duration.ofMillis(50)));

	private static final RailOptions PATIENT = RailOptions.DEFAULTS.withTimes(Duration.ofSeconds(1),
			Duration.ofMinutes(5));

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
		return fixture.serve((builder) -> builder.channelOptions(options).addService(Bytes.unary(RailsTests::echo)));
	}

	private static void echo(byte[] request, StreamObserver<byte[]> observer) {
		observer.onNext(request);
		observer.onCompleted();
	}

	private static ManagedChannel connect(GrpcFixture fixture, Server server, RailOptions rails) {
		return fixture.connect(server, (builder) -> builder.railOptions(rails));
	}

	/** A server that is reached over a rail by which clients know another one. */
	private static Server serveAlso(GrpcFixture fixture, Server known, UnaryMethod<byte[], byte[]> handler)
			throws Exception {
		return fixture.serve(known.getPort(), (builder) -> builder.addService(Bytes.unary(handler)));
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
			assertThat(System.nanoTime() - begin)
				.isGreaterThanOrEqualTo(RailOptions.DEFAULTS.attemptTimeout().toNanos());
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
	void newCallsMoveToABetterRailAndThoseBegunEndWhereTheyBegan() throws Exception {
		CountDownLatch begun = new CountDownLatch(1);
		CountDownLatch release = new CountDownLatch(1);
		try (GrpcFixture first = fixture("iwarp");
				GrpcFixture second = fixture("shm");
				GrpcFixture calling = fixture("shm", "iwarp")) {
			Server worse = first.serve((builder) -> builder.addService(Bytes.unary((request, observer) -> {
				begun.countDown();
				awaitUnchecked(release);
				echo(request, observer);
			})));
			ManagedChannel channel = connect(calling, worse, IMPATIENT);
			ListenableFuture<byte[]> slow = ClientCalls
				.futureUnaryCall(channel.newCall(Bytes.UNARY, CallOptions.DEFAULT), new byte[8]);
			assertThat(begun.await(30, TimeUnit.SECONDS)).isTrue();
			AtomicInteger served = new AtomicInteger();
			serveAlso(second, worse, (request, observer) -> {
				served.incrementAndGet();
				echo(request, observer);
			});
			GrpcFixture.await(() -> channel.getState(false) == ConnectivityState.IDLE, "the connection ends");
			call(channel);
			assertThat(served).hasValue(1);
			assertThat(rails(calling)).containsExactlyInAnyOrder("iwarp", "shm");
			assertThat(slow.isDone()).isFalse();
			release.countDown();
			assertThat(slow.get(30, TimeUnit.SECONDS)).hasSize(8);
			GrpcFixture.await(() -> rails(calling).equals(List.of("shm")), "the other one is closed");
		}
		finally {
			release.countDown();
		}
	}

	@Test
	void movesToTheBetterRailAndBackUnderLoadWithoutAFailedOrDoubledCall() throws Exception {
		AtomicInteger served = new AtomicInteger();
		UnaryMethod<byte[], byte[]> handler = (request, observer) -> {
			served.incrementAndGet();
			echo(request, observer);
		};
		ExecutorService callers = Executors.newFixedThreadPool(4);
		try (GrpcFixture first = fixture("iwarp");
				GrpcFixture second = fixture("shm");
				GrpcFixture calling = fixture("shm", "iwarp")) {
			Server worse = first.serve((builder) -> builder.addService(Bytes.unary(handler)));
			ManagedChannel channel = connect(calling, worse, IMPATIENT);
			AtomicBoolean stopping = new AtomicBoolean();
			AtomicInteger called = new AtomicInteger();
			List<Future<?>> calls = new ArrayList<>();
			for (int i = 0; i < 4; i++) {
				calls.add(callers.submit(() -> {
					while (!stopping.get()) {
						call(channel, CallOptions.DEFAULT);
						called.incrementAndGet();
					}
				}));
			}
			for (int i = 0; i < 3; i++) {
				GrpcFixture.await(() -> rails(calling).equals(List.of("iwarp")), "calls go over TCP");
				Server better = serveAlso(second, worse, handler);
				GrpcFixture.await(() -> rails(calling).equals(List.of("shm")), "calls go through shared memory");
				int before = called.get();
				GrpcFixture.await(() -> called.get() > before + 100 || calls.stream().anyMatch(Future::isDone),
						"calls");
				better.shutdown();
				assertThat(better.awaitTermination(30, TimeUnit.SECONDS)).isTrue();
			}
			stopping.set(true);
			for (Future<?> each : calls) {
				each.get(60, TimeUnit.SECONDS);
			}
			assertThat(served).as("executions").hasValue(called.get());
		}
		finally {
			callers.shutdownNow();
		}
	}

	@Test
	void aRailThatDoesNotAnswerIsTriedLastAfterThat() throws Exception {
		try (GrpcFixture serving = fixture("iwarp");
				GrpcFixture calling = fixture("shm", "iwarp");
				ServerSocketChannel silent = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
			Server server = serve(serving);
			Path socket = this.directory.resolve(server.getPort() + ".socket");
			silent.bind(UnixDomainSocketAddress.of(socket));
			ManagedChannel channel = connect(calling, server, PATIENT);
			call(channel);
			channel.enterIdle();
			GrpcFixture.await(() -> rails(calling).isEmpty(), "the connection is closed");
			call(channel);
			assertThat(rails(calling)).containsExactly("iwarp");
			assertThat(connections(silent)).as("attempts on the rail that does not answer").isEqualTo(1);
			Files.delete(socket);
		}
	}

	@Test
	void aSearchForABetterRailEndsWithItsChannel() throws Exception {
		try (GrpcFixture serving = fixture("iwarp");
				GrpcFixture calling = fixture("shm", "iwarp");
				ServerSocketChannel silent = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
			Server server = serve(serving);
			ManagedChannel channel = connect(calling, server,
					IMPATIENT.withTimes(Duration.ofMinutes(10), Duration.ofMillis(50)));
			call(channel);
			Path socket = this.directory.resolve(server.getPort() + ".socket");
			silent.bind(UnixDomainSocketAddress.of(socket));
			silent.accept().close();
			call(channel);
			silent.accept();
			assertThat(channel.shutdown().awaitTermination(10, TimeUnit.SECONDS)).isTrue();
			GrpcFixture.await(() -> rails(calling).isEmpty(), "no connection is left");
			Files.delete(socket);
		}
	}

	@Test
	void aChannelUsesTheRailsThatItIsGiven() throws Exception {
		try (GrpcFixture fixture = fixture("shm", "iwarp")) {
			Server server = serve(fixture);
			call(connect(fixture, server, RailOptions.DEFAULTS.withProviders(List.of("iwarp"))));
			assertThat(rails(fixture)).containsExactly("iwarp");
			ManagedChannel other = connect(fixture, server, RailOptions.DEFAULTS.withProviders(List.of("disni")));
			assertThatExceptionOfType(StatusRuntimeException.class).isThrownBy(() -> call(other, CallOptions.DEFAULT))
				.satisfies((ex) -> assertThat(ex.getStatus().getCode()).isEqualTo(Status.Code.UNAVAILABLE))
				.withMessageContaining("provider disni of a client (expected: one of the transport's");
		}
	}

	private static void awaitUnchecked(CountDownLatch latch) {
		try {
			latch.await();
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	/** How many clients wait to be accepted. */
	private static int connections(ServerSocketChannel silent) throws IOException {
		silent.configureBlocking(false);
		int count = 0;
		for (SocketChannel next = silent.accept(); next != null; next = silent.accept()) {
			next.close();
			count++;
		}
		return count;
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
