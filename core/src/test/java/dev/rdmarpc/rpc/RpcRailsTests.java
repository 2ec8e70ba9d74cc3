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

package dev.rdmarpc.rpc;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import dev.rdmarpc.Await;
import dev.rdmarpc.TestCertificates;
import dev.rdmarpc.transport.ChannelLoop;
import dev.rdmarpc.transport.ChannelSecurity;
import dev.rdmarpc.transport.ListeningRail;
import dev.rdmarpc.transport.RailOptions;
import dev.rdmarpc.transport.RdmaTransport;
import dev.rdmarpc.verbs.TlsOptions;
import dev.rdmarpc.verbs.VerbsException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Shared memory and user-space iWARP in one transport. */
@Timeout(120)
class RpcRailsTests {

	private static final String[] BOTH = { "shm", "iwarp" };

	private static List<String> railsOf(RdmaTransport transport) {
		return transport.loops().stream().map(ChannelLoop::rail).distinct().toList();
	}

	@Test
	void peersOnOneHostUseSharedMemoryAndNoLoopOfTheOtherRail() throws Exception {
		try (RailsFixture fixture = new RailsFixture()) {
			RpcServer server = fixture.serve(fixture.transport(BOTH), RailsFixture.loopback(0), new EchoService());
			RdmaTransport transport = fixture.transport(BOTH);
			RpcClient client = fixture.client(transport, server.address(), RailOptions.DEFAULTS);
			assertThat(railsOf(transport)).isEmpty();
			assertThat(client.proxy(Echo.class).echo("shared")).isEqualTo("shared");
			assertThat(RailsFixture.railOf(client)).isEqualTo("shm");
			assertThat(railsOf(transport)).containsExactly("shm");
			assertThat(server.rails()).extracting(ListeningRail::name).containsExactly("iwarp", "shm");
			assertThat(server.rails()).extracting(ListeningRail::address).containsOnly(server.address());
		}
	}

	/** Each loop sleeps in one wait, which only what concerns its own rail ends. */
	@Test
	void callsOverOneRailWakeNoLoopOfAnother() throws Exception {
		try (RailsFixture fixture = new RailsFixture()) {
			List<RdmaTransport> both = List.of(fixture.transport(BOTH), fixture.transport(BOTH));
			RpcServer server = fixture.serve(both.get(0), RailsFixture.loopback(0), new EchoService());
			for (String used : BOTH) {
				for (String rail : BOTH) {
					RpcClient client = fixture.client(both.get(1), server.address(),
							RailOptions.DEFAULTS.withProviders(List.of(rail)));
					assertThat(client.proxy(Echo.class).echo("over " + rail)).isEqualTo("over " + rail);
					client.close();
				}
				RpcClient client = fixture.client(both.get(1), server.address(),
						RailOptions.DEFAULTS.withProviders(List.of(used)));
				Echo echo = client.proxy(Echo.class);
				List<ChannelLoop> idle = both.stream()
					.flatMap((transport) -> transport.loops().stream())
					.filter((loop) -> !loop.rail().equals(used))
					.toList();
				assertThat(idle).hasSizeGreaterThanOrEqualTo(2);
				Await.until(() -> !isWokenByCalls(idle, echo));
				client.close();
			}
		}
	}

	/** What was begun before may still end in the meantime, but not each time. */
	private static boolean isWokenByCalls(List<ChannelLoop> idle, Echo echo) {
		long before = wakeUps(idle);
		for (int i = 0; i < 300; i++) {
			assertThat(echo.add(i, 1)).isEqualTo(i + 1);
		}
		return wakeUps(idle) != before;
	}

	private static long wakeUps(List<ChannelLoop> loops) {
		return loops.stream().mapToLong((loop) -> loop.metrics().wakeUps() + loop.metrics().completions()).sum();
	}

	@Test
	void aServerWithoutSharedMemoryIsReachedAtOnceByTheOtherRail() throws Exception {
		try (RailsFixture fixture = new RailsFixture()) {
			RpcServer server = fixture.serve(fixture.transport("iwarp"), RailsFixture.loopback(0), new EchoService());
			RdmaTransport transport = fixture.transport(BOTH);
			RpcClient client = fixture.client(transport, server.address(), RailOptions.DEFAULTS);
			assertThat(client.proxy(Echo.class).echo("over TCP")).isEqualTo("over TCP");
			assertThat(RailsFixture.railOf(client)).isEqualTo("iwarp");
			assertThat(railsOf(transport)).as("rails with loops").containsExactly("iwarp");
		}
	}

	@Test
	void aServerInAnotherDirectoryIsReachedByTheOtherRail() throws Exception {
		try (RailsFixture fixture = new RailsFixture(); RailsFixture elsewhere = new RailsFixture()) {
			RpcServer server = elsewhere.serve(elsewhere.transport(BOTH), RailsFixture.loopback(0), new EchoService());
			RpcClient client = fixture.client(fixture.transport(BOTH), server.address(), RailOptions.DEFAULTS);
			assertThat(client.proxy(Echo.class).echo("over TCP")).isEqualTo("over TCP");
			assertThat(RailsFixture.railOf(client)).isEqualTo("iwarp");
		}
	}

	@Test
	void aRailThatDoesNotAnswerIsLeftInTimeAndThenAvoided() throws Exception {
		try (RailsFixture fixture = new RailsFixture()) {
			RpcServer server = fixture.serve(fixture.transport("iwarp"), RailsFixture.loopback(0), new EchoService());
			Path socket = fixture.directory.resolve(server.port() + ".socket");
			try (ServerSocketChannel silent = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
				silent.bind(UnixDomainSocketAddress.of(socket));
				silent.configureBlocking(false);
				RpcClient client = fixture.client(fixture.transport(BOTH), server.address(),
						RailOptions.DEFAULTS.withTimes(Duration.ofMillis(200), Duration.ofMinutes(5)));
				Echo echo = client.proxy(Echo.class);
				long begin = System.nanoTime();
				assertThat(echo.echo("late")).isEqualTo("late");
				assertThat(System.nanoTime() - begin).isGreaterThan(Duration.ofMillis(200).toNanos());
				assertThat(RailsFixture.railOf(client)).isEqualTo("iwarp");
				server.channels().forEach((channel) -> channel.close("by the test"));
				Await.until(() -> client.metrics().losses() == 1);
				assertThat(attempts(silent)).isPositive();
				assertThat(echo.echo("soon")).isEqualTo("soon");
				assertThat(attempts(silent)).isZero();
			}
			Files.delete(socket);
		}
	}

	/** Who has tried to connect since the last time. */
	private static int attempts(ServerSocketChannel listening) throws IOException {
		int attempts = 0;
		for (SocketChannel tried = listening.accept(); tried != null; tried = listening.accept()) {
			tried.close();
			attempts++;
		}
		return attempts;
	}

	@Test
	void movesToTheBetterRailUnderLoadWithoutAFailedOrDoubledCall() throws Exception {
		try (RailsFixture fixture = new RailsFixture()) {
			EchoService service = new EchoService();
			RpcServer worse = fixture.serve(fixture.transport("iwarp"), RailsFixture.loopback(0), service);
			RpcClient client = fixture.client(fixture.transport(BOTH), worse.address(), RailsFixture.IMPATIENT);
			Echo echo = client.proxy(Echo.class);
			AtomicBoolean stopping = new AtomicBoolean();
			AtomicInteger calls = new AtomicInteger();
			List<CompletableFuture<Void>> callers = new ArrayList<>();
			for (int i = 0; i < 4; i++) {
				callers.add(RpcFixture.inThread(() -> {
					while (!stopping.get()) {
						echo.touch();
						calls.incrementAndGet();
					}
					return null;
				}));
			}
			RailsFixture.awaitRail(client, "iwarp");
			RdmaTransport shared = fixture.transport("shm");
			for (int i = 0; i < 5; i++) {
				RpcServer better = fixture.serve(shared, worse.address(), service);
				RailsFixture.awaitRail(client, "shm");
				Await.until(() -> worse.channels().isEmpty());
				int before = calls.get();
				Await.until(() -> calls.get() > before + 100);
				better.close();
				RailsFixture.awaitRail(client, "iwarp");
			}
			stopping.set(true);
			for (CompletableFuture<Void> caller : callers) {
				caller.get(60, TimeUnit.SECONDS);
			}
			assertThat(service.touched.get()).as("executions").isEqualTo(calls.get());
		}
	}

	/** Looking for a better rail costs a look, and no question to a name service. */
	@Test
	void aPeerThatIsNotReachedBetterIsNotResolvedAgain() throws Exception {
		try (RailsFixture fixture = new RailsFixture()) {
			RpcServer worse = fixture.serve(fixture.transport("iwarp"), RailsFixture.loopback(0), new EchoService());
			RdmaTransport transport = fixture.transport(BOTH);
			AtomicInteger resolved = new AtomicInteger();
			RpcClient client = fixture.client(transport, () -> {
				resolved.incrementAndGet();
				return worse.address();
			}, (options) -> options.withRails(RailsFixture.IMPATIENT));
			assertThat(client.proxy(Echo.class).echo("over TCP")).isEqualTo("over TCP");
			long looks = 5 * RailsFixture.IMPATIENT.betterInterval().toMillis();
			transport.timer().schedule(() -> {
			}, looks, TimeUnit.MILLISECONDS).get(60, TimeUnit.SECONDS);
			assertThat(resolved.get()).as("resolutions without a better rail").isEqualTo(1);
			fixture.serve(fixture.transport("shm"), worse.address(), new EchoService());
			RailsFixture.awaitRail(client, "shm");
			assertThat(resolved.get()).as("resolutions with one, which may not answer in time")
				.isGreaterThanOrEqualTo(2);
		}
	}

	@Test
	void aStreamOrCallThatIsOutstandingEndsOnTheRailWhereItBegan() throws Exception {
		try (RailsFixture fixture = new RailsFixture()) {
			EchoService service = new EchoService();
			RpcServer worse = fixture.serve(fixture.transport("iwarp"), RailsFixture.loopback(0), service);
			RpcClient client = fixture.client(fixture.transport(BOTH), worse.address(), RailsFixture.IMPATIENT);
			Echo echo = CallOptions.deadline(Duration.ofSeconds(60)).on(client.proxy(Echo.class));
			CompletableFuture<String> slow = RpcFixture.inThread(() -> echo.slow(60_000));
			Await.until(() -> service.running.get() == 1);
			fixture.serve(fixture.transport("shm"), worse.address(), service);
			RailsFixture.awaitRail(client, "shm");
			assertThat(echo.echo("meanwhile")).isEqualTo("meanwhile");
			assertThat(worse.channels()).hasSize(1);
			service.release.countDown();
			assertThat(slow.get(60, TimeUnit.SECONDS)).isEqualTo("released");
			Await.until(() -> worse.channels().isEmpty());
			assertThat(client.metrics().losses()).isZero();
		}
	}

	@Test
	void serversAtTwoAddressesWithOnePortAreNotTakenForEachOther() throws Exception {
		try (RailsFixture fixture = new RailsFixture()) {
			RpcServer first = fixture.serve(fixture.transport(BOTH), RailsFixture.loopback(0), new EchoService() {
				@Override
				public String echo(String text) {
					return "first";
				}
			});
			InetSocketAddress other = new InetSocketAddress("127.0.0.2", first.port());
			RpcServer second = fixture.serve(fixture.transport(BOTH), other, new EchoService() {
				@Override
				public String echo(String text) {
					return "second";
				}
			});
			ListeningRail shared = second.rails().get(1);
			assertThat(shared.isListening()).isFalse();
			assertThat(shared.problem()).contains("is in use");
			assertThat(second.loops()).extracting(ChannelLoop::rail).containsOnly("iwarp");
			RdmaTransport transport = fixture.transport(BOTH);
			RpcClient ofFirst = fixture.client(transport, first.address(), RailOptions.DEFAULTS);
			RpcClient ofSecond = fixture.client(transport, other, RailOptions.DEFAULTS);
			assertThat(ofFirst.proxy(Echo.class).echo("who?")).isEqualTo("first");
			assertThat(ofSecond.proxy(Echo.class).echo("who?")).isEqualTo("second");
			assertThat(RailsFixture.railOf(ofFirst)).isEqualTo("shm");
			assertThat(RailsFixture.railOf(ofSecond)).isEqualTo("iwarp");
		}
	}

	@Test
	void aServerWhosePortIsTakenDoesNotServeOverSharedMemoryAlone() throws Exception {
		try (RailsFixture fixture = new RailsFixture()) {
			RpcServer first = fixture.serve(fixture.transport("iwarp"), RailsFixture.loopback(0), new EchoService());
			RdmaTransport transport = fixture.transport(BOTH);
			assertThatThrownBy(() -> fixture.serve(transport, first.address(), new EchoService()))
				.isInstanceOf(VerbsException.class)
				.hasMessageContaining(String.valueOf(first.port()));
			assertThat(transport.loops()).isEmpty();
		}
	}

	@Test
	void tlsExcludesSharedMemory() throws Exception {
		TestCertificates own = TestCertificates.client();
		ChannelSecurity serverSide = ChannelSecurity.NONE
			.withTls(TlsOptions.of(() -> TestCertificates.server().context(own)));
		ChannelSecurity clientSide = ChannelSecurity.NONE
			.withTls(TlsOptions.of(() -> own.context(TestCertificates.server())));
		try (RailsFixture fixture = new RailsFixture()) {
			RpcServer server = fixture.serve(fixture.transport(BOTH), new EchoService(),
					(options) -> options.withChannel(options.channel().withSecurity(serverSide)));
			assertThat(server.rails()).extracting(ListeningRail::isListening).containsExactly(true, false);
			assertThat(server.rails().get(1).problem()).isEqualTo("shm cannot have TLS");
			RdmaTransport transport = fixture.transport(BOTH);
			// The first handshake of a process takes seconds of a processor that others
			// use, too: perhaps more than there are for one attempt.
			RpcClient client = fixture.client(transport, server.address(),
					(options) -> options.withChannel(options.channel().withSecurity(clientSide))
						.withWaitForReady(true));
			assertThat(client.proxy(Echo.class).echo("secret")).isEqualTo("secret");
			assertThat(RailsFixture.railOf(client)).isEqualTo("iwarp");
			assertThatIllegalArgumentException()
				.isThrownBy(() -> fixture.client(transport, server.address(),
						(options) -> options.withChannel(options.channel().withSecurity(clientSide))
							.withRails(RailOptions.DEFAULTS.withProviders(List.of("shm")))))
				.withMessageContaining("[shm]");
		}
	}

	@Test
	void aClientUsesTheRailsThatItIsGivenInTheirOrder() throws Exception {
		try (RailsFixture fixture = new RailsFixture()) {
			RpcServer server = fixture.serve(fixture.transport(BOTH), RailsFixture.loopback(0), new EchoService());
			RdmaTransport transport = fixture.transport(BOTH);
			for (List<String> order : List.of(List.of("iwarp"), List.of("iwarp", "shm"), List.of("shm"))) {
				RpcClient client = fixture.client(transport, server.address(),
						RailOptions.DEFAULTS.withProviders(order));
				assertThat(client.proxy(Echo.class).echo("to you")).isEqualTo("to you");
				assertThat(RailsFixture.railOf(client)).isEqualTo(order.get(0));
			}
			assertThatIllegalArgumentException()
				.isThrownBy(() -> fixture.client(transport, server.address(),
						RailOptions.DEFAULTS.withProviders(List.of("disni"))))
				.withMessage("provider disni of a client (expected: one of the transport's, [shm, iwarp])");
		}
	}

	@Test
	void failuresOfAllRailsAreTold() throws Exception {
		try (RailsFixture fixture = new RailsFixture()) {
			RpcServer server = fixture.serve(fixture.transport(BOTH), RailsFixture.loopback(0), new EchoService());
			InetSocketAddress address = server.address();
			server.close();
			Files.createFile(fixture.directory.resolve(address.getPort() + ".socket"));
			RpcClient client = fixture.client(fixture.transport(BOTH), address, RailOptions.DEFAULTS);
			RpcException failure = RpcFixture.failureOf(() -> client.proxy(Echo.class).echo("anybody?"));
			assertThat(failure.status()).isEqualTo(RpcStatus.UNAVAILABLE);
			assertThat(failure).hasMessageContaining("shm: ").hasMessageContaining("; iwarp: ");
			Files.deleteIfExists(fixture.directory.resolve(address.getPort() + ".socket"));
		}
	}

	@Test
	void manySizesOfMessagesGoOverEachRail() throws Exception {
		try (RailsFixture fixture = new RailsFixture()) {
			RpcServer server = fixture.serve(fixture.transport(BOTH), RailsFixture.loopback(0), new EchoService());
			RdmaTransport transport = fixture.transport(BOTH);
			for (String rail : BOTH) {
				Echo echo = fixture
					.client(transport, server.address(), RailOptions.DEFAULTS.withProviders(List.of(rail)))
					.proxy(Echo.class);
				for (int bytes : new int[] { 0, 64, 8192, 100_000, 3 << 20 }) {
					byte[] sent = new byte[bytes];
					Arrays.fill(sent, (byte) bytes);
					assertThat(echo.bytes(sent)).isEqualTo(sent);
				}
			}
		}
	}

}
