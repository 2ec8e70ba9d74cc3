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

import java.nio.charset.StandardCharsets;
import java.security.Principal;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Consumer;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import dev.rdmarpc.transport.ChannelListener;
import dev.rdmarpc.transport.ChannelSecurity;
import dev.rdmarpc.transport.PeerLimits;
import dev.rdmarpc.transport.PeerShare;
import dev.rdmarpc.transport.PrincipalLimits;
import dev.rdmarpc.transport.RdmaAuthenticator;

import static org.assertj.core.api.Assertions.assertThat;

/** What one principal may use of a server, however many connections it has. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class RpcPrincipalLimitsTests {

	/** Shows its token as its name. */
	private static final RdmaAuthenticator BY_TOKEN = (credentials) -> {
		byte[] token = credentials.token();
		return CompletableFuture.completedFuture(
				(token != null) ? named(new String(token, StandardCharsets.UTF_8)) : RdmaAuthenticator.ANONYMOUS);
	};

	private final ConcurrentLinkedQueue<CompletableFuture<Integer>> held = new ConcurrentLinkedQueue<>();

	private final Holding service = new Holding() {

		@Override
		public CompletableFuture<Integer> hold(byte[] bytes) {
			CompletableFuture<Integer> answer = new CompletableFuture<>();
			RpcPrincipalLimitsTests.this.held.add(answer);
			return answer;
		}

		@Override
		public int size(byte[] bytes) {
			return bytes.length;
		}

	};

	private static Principal named(String name) {
		return () -> name;
	}

	private void serve(PrincipalLimits limits, Consumer<Served> test) {
		try (RpcFixture fixture = new RpcFixture()) {
			RpcServerOptions options = RpcFixture.serverOptions(0).withPeers(PeerLimits.NONE.withPrincipal(limits));
			options = options
				.withChannel(options.channel().withSecurity(ChannelSecurity.NONE.withAuthenticator(BY_TOKEN)));
			try (RpcServer server = fixture.startServer(options, Holding.class, this.service)) {
				test.accept(new Served(fixture, server));
				answerAll();
				RpcFixture.awaitTrue(() -> server.activeCalls() == 0 && server.channels().isEmpty());
			}
		}
	}

	private void answerAll() {
		for (CompletableFuture<Integer> answer = this.held.poll(); answer != null; answer = this.held.poll()) {
			answer.complete(1);
		}
	}

	private void awaitHeld(int calls) {
		RpcFixture.awaitTrue(() -> this.held.size() == calls);
	}

	@Test
	void callsOfOnePrincipalAreCountedOverItsConnections() {
		serve(new PrincipalLimits(8, 2, Long.MAX_VALUE), (served) -> {
			try (RpcClient first = served.client("reports");
					RpcClient second = served.client("reports");
					RpcClient other = served.client("batch");
					RpcClient nobody = served.client("")) {
				CompletableFuture<Integer> one = first.proxy(Holding.class).hold(new byte[1]);
				CompletableFuture<Integer> two = second.proxy(Holding.class).hold(new byte[1]);
				awaitHeld(2);
				for (RpcClient client : List.of(first, second)) {
					RpcException refused = RpcFixture.failureOf(() -> client.proxy(Holding.class).size(new byte[1]));
					assertThat(refused.status()).isEqualTo(RpcStatus.RESOURCE_EXHAUSTED);
					assertThat(refused).hasMessageContaining("too many calls of 'reports' (limit 2)");
				}
				assertThat(other.proxy(Holding.class).size(new byte[1])).isOne();
				assertThat(nobody.proxy(Holding.class).size(new byte[1])).isOne();
				assertThat(served.server.metrics().callsLimited()).containsEntry(PeerShare.Limit.CALLS, 2L)
					.containsEntry(PeerShare.Limit.REQUEST_BYTES, 0L);
				answerAll();
				assertThat(one.join() + two.join()).isEqualTo(2);
				RpcFixture
					.awaitTrue(() -> RpcFixture.failureOf(() -> first.proxy(Holding.class).size(new byte[1])) == null);
			}
		});
	}

	@Test
	void bytesOfRequestsAreCountedButOneIsAlwaysAccepted() {
		serve(new PrincipalLimits(8, 100, 100_000), (served) -> {
			try (RpcClient client = served.client("reports"); RpcClient other = served.client("batch")) {
				assertThat(client.proxy(Holding.class).size(new byte[300_000])).isEqualTo(300_000);
				CompletableFuture<Integer> large = client.proxy(Holding.class).hold(new byte[90_000]);
				awaitHeld(1);
				assertThat(client.proxy(Holding.class).size(new byte[100])).isEqualTo(100);
				RpcException refused = RpcFixture.failureOf(() -> client.proxy(Holding.class).size(new byte[20_000]));
				assertThat(refused.status()).isEqualTo(RpcStatus.RESOURCE_EXHAUSTED);
				assertThat(refused).hasMessageContaining("too many bytes in requests of 'reports' (limit 100000)");
				assertThat(other.proxy(Holding.class).size(new byte[20_000])).isEqualTo(20_000);
				assertThat(served.server.metrics().callsLimited()).containsEntry(PeerShare.Limit.REQUEST_BYTES, 1L);
				answerAll();
				assertThat(large.join()).isOne();
				RpcFixture.awaitTrue(
						() -> RpcFixture.failureOf(() -> client.proxy(Holding.class).size(new byte[20_000])) == null);
			}
		});
	}

	@Test
	void connectionsOfOnePrincipalLeaveSomeToOthers() {
		serve(new PrincipalLimits(1, 100, Long.MAX_VALUE), (served) -> {
			try (RpcClient second = served.client("reports"); RpcClient other = served.client("batch")) {
				try (RpcClient first = served.client("reports")) {
					assertThat(first.proxy(Holding.class).size(new byte[1])).isOne();
					RpcException refused = RpcFixture.failureOf(() -> second.proxy(Holding.class).size(new byte[1]));
					assertThat(refused.status()).isEqualTo(RpcStatus.UNAVAILABLE);
					assertThat(refused).hasMessageContaining("too many connections of 'reports' (limit 1)");
					assertThat(other.proxy(Holding.class).size(new byte[1])).isOne();
					assertThat(served.server.metrics()
						.connectionsRejected()
						.get(ChannelListener.Limit.CONNECTIONS_OF_PRINCIPAL)).isPositive();
				}
				RpcFixture
					.awaitTrue(() -> RpcFixture.failureOf(() -> second.proxy(Holding.class).size(new byte[1])) == null);
			}
		});
	}

	/** Holds its calls until they are answered. */
	interface Holding {

		CompletableFuture<Integer> hold(byte[] bytes);

		int size(byte[] bytes);

	}

	/** A server and those who call it. */
	private record Served(RpcFixture fixture, RpcServer server) {

		RpcClient client(String token) {
			ChannelSecurity security = token.isEmpty() ? ChannelSecurity.NONE
					: ChannelSecurity.NONE.withToken(() -> token.getBytes(StandardCharsets.UTF_8));
			return this.fixture.newClient(this.server,
					(options) -> options.withChannel(options.channel().withSecurity(security)));
		}

	}

}
