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

import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import dev.rdmarpc.Await;
import dev.rdmarpc.rpc.DeliveryFile.Deliveries;
import dev.rdmarpc.transport.ChannelLoop;
import dev.rdmarpc.transport.ListeningRail;
import dev.rdmarpc.transport.Rail;
import dev.rdmarpc.transport.RdmaTransport;

import static org.assertj.core.api.Assertions.assertThat;

/** An adapter that is taken out of running processes and put back. */
@Timeout(180)
class RailReturnTests {

	@TempDir
	Path notes;

	/** Which of the transport's rails is the adapter's. */
	private static Rail adapterOf(RdmaTransport transport) {
		return transport.rails().stream().filter((rail) -> rail.name().equals(RemovableAdapter.NAME)).findFirst().get();
	}

	private static boolean isListening(RpcServer server) {
		return server.rails()
			.stream()
			.anyMatch((rail) -> rail.name().equals(RemovableAdapter.NAME) && rail.isListening());
	}

	@Test
	void callsGoOnOverTheOtherRailAndComeBackWithTheAdapter() throws Exception {
		removeUnderCalls(2, RemovableAdapter::remove);
	}

	@Test
	void anAdapterThatFailsWithAllThatIsOpenOnItIsOpenedAgain() throws Exception {
		removeUnderCalls(1, (adapter) -> {
			adapter.remove();
			adapter.fail();
		});
	}

	private void removeUnderCalls(int rounds, Consumer<RemovableAdapter> removal) throws Exception {
		try (RailsFixture fixture = new RailsFixture();
				DeliveryFile file = new DeliveryFile(this.notes.resolve("delivered"))) {
			RemovableAdapter adapter = new RemovableAdapter(fixture.directory);
			RdmaTransport serving = fixture.transport(adapter, RemovableAdapter.NAME, "iwarp");
			RdmaTransport calling = fixture.transport(adapter, RemovableAdapter.NAME, "iwarp");
			RpcServer server = fixture.serve(serving, Deliveries.class, file.service());
			RpcClient client = fixture.client(calling, server.address(), RailsFixture.IMPATIENT);
			DeliveryLoad load = new DeliveryLoad(client);
			RailsFixture.awaitRail(client, RemovableAdapter.NAME);
			for (int i = 0; i < rounds; i++) {
				load.awaitMoreCalls();
				removal.accept(adapter);
				Await.until(adapter::isReleased);
				RailsFixture.awaitRail(client, "iwarp");
				load.awaitMoreCalls();
				checkDown(serving, server);
				adapter.putBack();
				Await.until(() -> isListening(server));
				RailsFixture.awaitRail(client, RemovableAdapter.NAME);
			}
			load.awaitMoreCalls();
			load.end(file, rounds);
			assertThat(List.of(serving, calling)).allSatisfy((transport) -> {
				assertThat(transport.problems()).isEmpty();
				assertThat(adapterOf(transport).problem()).isNull();
			});
		}
	}

	/** The server is well all the same, and says what is not. */
	private static void checkDown(RdmaTransport serving, RpcServer server) {
		assertThat(adapterOf(serving).problem()).contains(RemovableAdapter.NAME).contains("has gone");
		assertThat(serving.problems()).as("problems of one with another rail").isEmpty();
		assertThat(server.rails()).extracting(ListeningRail::isListening).containsExactly(true, false);
		assertThat(server.rails().get(1).problem()).contains("has gone");
		assertThat(server.loops()).filteredOn((loop) -> !loop.isClosed())
			.extracting(ChannelLoop::rail)
			.containsOnly("iwarp");
	}

	@Test
	void withTheOnlyRailCallsFailUntilItIsBack() throws Exception {
		try (RailsFixture fixture = new RailsFixture()) {
			RemovableAdapter adapter = new RemovableAdapter(fixture.directory);
			RdmaTransport serving = fixture.transport(adapter, RemovableAdapter.NAME);
			RdmaTransport calling = fixture.transport(adapter, RemovableAdapter.NAME);
			RpcServer server = fixture.serve(serving, RailsFixture.loopback(4711), new EchoService());
			RpcClient client = fixture.client(calling, server.address(), RailsFixture.IMPATIENT);
			Echo echo = client.proxy(Echo.class);
			assertThat(echo.echo("before")).isEqualTo("before");
			CompletableFuture<Void> never = echo.never();
			int opened = adapter.attempts();
			adapter.remove();
			Await.until(adapter::isReleased);
			assertThat(unavailable(never)).isTrue();
			assertThat(RpcFixture.failureOf(() -> echo.echo("lost"))).hasMessageContaining("has gone");
			assertThat(unavailable(echo.echoAsync("lost"))).isTrue();
			assertThat(calling.problems()).singleElement().asString().contains(RemovableAdapter.NAME);
			Await.until(() -> adapter.attempts() > opened + 4);
			adapter.putBack();
			Await.until(() -> isListening(server) && calling.problems().isEmpty());
			assertThat(server.port()).isEqualTo(4711);
			assertThat(echo.echo("after")).isEqualTo("after");
			byte[] large = new byte[3 << 20];
			Arrays.fill(large, (byte) 7);
			assertThat(echo.bytes(large)).as("memory registered with the new device").isEqualTo(large);
		}
	}

	private static boolean unavailable(CompletableFuture<?> call) throws Exception {
		return call.handle((result, failure) -> {
			Throwable cause = (failure instanceof CompletionException) ? failure.getCause() : failure;
			return cause instanceof RpcException rpc && rpc.status() == RpcStatus.UNAVAILABLE;
		}).get(60, TimeUnit.SECONDS);
	}

	@Test
	void aServerWhoseAddressComesLaterThanTheAdapterListensThen() throws Exception {
		try (RailsFixture fixture = new RailsFixture()) {
			RemovableAdapter adapter = new RemovableAdapter(fixture.directory);
			RdmaTransport serving = fixture.transport(adapter, RemovableAdapter.NAME, "iwarp");
			RpcServer server = fixture.serve(serving, RailsFixture.loopback(0), new EchoService());
			adapter.remove();
			Await.until(adapter::isReleased);
			assertThat(isListening(server)).isFalse();
			adapter.refuseListening(2);
			adapter.putBack();
			Await.until(() -> isListening(server));
			assertThat(adapter.refusals()).isZero();
			assertThat(server.loops()).allMatch((loop) -> !loop.isClosed());
		}
	}

	/**
	 * Closing waits for no adapter, and an adapter that comes back for nobody is let go.
	 */
	@Test
	void aTransportIsClosedWhileItsAdapterIsGoneOrComesBack() throws Exception {
		RemovableAdapter last = null;
		for (int i = 0; i < 4; i++) {
			try (RailsFixture fixture = new RailsFixture()) {
				RemovableAdapter adapter = new RemovableAdapter(fixture.directory);
				last = adapter;
				RdmaTransport transport = fixture.transport(adapter, RemovableAdapter.NAME, "iwarp");
				RpcServer server = fixture.serve(transport, RailsFixture.loopback(0), new EchoService());
				RpcClient client = fixture.client(fixture.transport(adapter, RemovableAdapter.NAME, "iwarp"),
						server.address(), RailsFixture.IMPATIENT);
				assertThat(client.proxy(Echo.class).echo("to you")).isEqualTo("to you");
				int opened = adapter.attempts();
				adapter.remove();
				if (i > 0) {
					Await.until(() -> !adapterOf(transport).isRunning());
				}
				if (i > 1) {
					Await.until(adapter::isReleased);
					adapter.putBack();
				}
				if (i > 2) {
					Await.until(() -> adapter.attempts() > opened);
				}
			}
			assertThat(last.isReleased()).isTrue();
		}
	}

}
