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

package dev.rdmarpc.verbs;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import dev.rdmarpc.TestEnvironment;

import static org.assertj.core.api.Assertions.assertThat;

/** Listening, and the bounds of listeners. */
abstract class AbstractListenerTests extends AbstractVerbsTests {

	/** How an attempt may end that the other side drops without an answer. */
	private static final Set<VerbsError> DROPPED = EnumSet.of(VerbsError.CONNECTION_LOST,
			VerbsError.CONNECTION_REJECTED, VerbsError.CONNECTION_REFUSED, VerbsError.PROTOCOL_ERROR);

	private static final int ATTEMPTS = 10;

	private static final Duration PATIENCE = VerbsFixture.DEADLINE.multipliedBy(2);

	/** Longer than a request takes to arrive, also behind a handshake of TLS. */
	private static final Duration SOON = TestEnvironment.scaled(Duration.ofSeconds(1));

	AbstractListenerTests(VerbsFixture fixture) {
		super(fixture);
	}

	private CompletableFuture<ConnectionInfo> connecting(VerbsEndpoint endpoint, InetSocketAddress to) {
		return this.fixture.left()
			.device()
			.connect(endpoint.queuePair(), to, this.fixture.connectOptions().withTimeout(PATIENCE));
	}

	private ConnectedPair connect(TestListener listener) {
		VerbsEndpoint left = this.fixture.left().endpoint();
		CompletableFuture<ConnectionInfo> connecting = connecting(left, listener.address());
		return this.fixture.accept(listener.awaitRequest(), left, connecting, this.fixture.right().endpoint(),
				this.fixture.connectOptions());
	}

	@Test
	void aListenerOnPortZeroTellsItsPort() {
		TestListener first = this.fixture.listen(ListenOptions.DEFAULTS);
		TestListener second = this.fixture.listen(ListenOptions.DEFAULTS);
		assertThat(first.address().getPort()).isPositive().isNotEqualTo(second.address().getPort());
		assertThat(first.address().getAddress()).isEqualTo(this.fixture.anyPort().getAddress());
		connect(first).greet();
		connect(second).greet();
	}

	@Test
	void aPortIsListenedOnOnce() {
		TestListener listener = this.fixture.listen(ListenOptions.DEFAULTS);
		assertFails(VerbsError.ADDRESS_IN_USE,
				() -> this.fixture.right().device().listen(listener.address(), ListenOptions.DEFAULTS, (request) -> {
				}));
		assertFails(VerbsError.ADDRESS_IN_USE,
				() -> this.fixture.left().device().listen(listener.address(), ListenOptions.DEFAULTS, (request) -> {
				}));
		connect(listener).greet();
	}

	@Test
	void anAddressOfAnotherHostCannotBeListenedOn() throws Exception {
		InetAddress documentation = InetAddress.getByAddress(new byte[] { (byte) 192, 0, 2, 1 });
		assertFails(VerbsError.ADDRESS_NOT_AVAILABLE,
				() -> this.fixture.right()
					.device()
					.listen(new InetSocketAddress(documentation, 0), ListenOptions.DEFAULTS, (request) -> {
					}));
	}

	@Test
	void closingAListenerKeepsItsConnectionsAndFreesItsPort() {
		TestListener listener = this.fixture.listen(ListenOptions.DEFAULTS);
		ConnectedPair pair = connect(listener);
		listener.close();
		listener.close();
		pair.greet();
		VerbsEndpoint late = this.fixture.left().endpoint();
		// lost if the system had queued it before the device's thread closed the socket
		assertThat(this.fixture.awaitFailure(connecting(late, listener.address())).error())
			.isIn(VerbsError.CONNECTION_REFUSED, VerbsError.CONNECTION_LOST);
		TestListener successor = new TestListener(this.fixture.right().device(), listener.address(),
				ListenOptions.DEFAULTS);
		connect(successor).greet();
		successor.close();
		pair.greet();
	}

	@Test
	void closingAListenerDropsWhatIsUnanswered() {
		TestListener listener = this.fixture.listen(ListenOptions.DEFAULTS);
		CompletableFuture<ConnectionInfo> connecting = connecting(this.fixture.left().endpoint(), listener.address());
		ConnectionRequest request = listener.awaitRequest();
		listener.close();
		assertThat(this.fixture.awaitFailure(connecting).error()).isIn(DROPPED);
		VerbsEndpoint right = this.fixture.right().endpoint();
		assertFails(VerbsError.INVALID_STATE, () -> request.accept(right.queuePair(), this.fixture.connectOptions()));
		assertThat(right.state()).isEqualTo(QueuePairState.INITIALIZED);
	}

	@Test
	void aRequestThatIsNotAnsweredInTimeIsDropped() {
		TestListener listener = this.fixture.listen(new ListenOptions(16, 16, 16, SOON.toNanos()));
		CompletableFuture<ConnectionInfo> connecting = connecting(this.fixture.left().endpoint(), listener.address());
		ConnectionRequest request = listener.awaitRequest();
		assertThat(this.fixture.awaitFailure(connecting).error()).isIn(DROPPED);
		VerbsEndpoint right = this.fixture.right().endpoint();
		assertFails(VerbsError.INVALID_STATE, () -> request.accept(right.queuePair(), this.fixture.connectOptions()));
		connectInTime(listener).greet();
	}

	/** Connects to a listener that is soon tired of waiting, if need be again. */
	private ConnectedPair connectInTime(TestListener listener) {
		for (int attempt = 1;; attempt++) {
			try {
				return connect(listener);
			}
			catch (VerbsException | AssertionError ex) {
				if (attempt == ATTEMPTS) {
					throw ex;
				}
			}
		}
	}

	@Test
	void moreThanTheGreatestNumberOfConnectionsAreRejected() {
		TestListener listener = this.fixture.listen(new ListenOptions(16, 16, 2, Duration.ofSeconds(5).toNanos()));
		ConnectedPair first = connect(listener);
		ConnectedPair second = connect(listener);
		assertThat(this.fixture.awaitFailure(connecting(this.fixture.left().endpoint(), listener.address())).error())
			.isEqualTo(VerbsError.CONNECTION_REJECTED);
		assertThat(listener.pendingRequests()).isZero();
		first.greet();
		second.left().queuePair().disconnect();
		second.awaitEnd();
		second.right().close();
		ConnectedPair[] third = new ConnectedPair[1];
		this.fixture.await("the place to be free again", () -> {
			VerbsEndpoint left = this.fixture.left().endpoint();
			CompletableFuture<ConnectionInfo> connecting = connecting(left, listener.address());
			this.fixture.await("an answer", () -> connecting.isDone() || listener.pendingRequests() > 0);
			if (connecting.isDone()) {
				return false;
			}
			third[0] = this.fixture.accept(listener.awaitRequest(), left, connecting, this.fixture.right().endpoint(),
					this.fixture.connectOptions());
			return true;
		});
		third[0].greet();
	}

	@Test
	void moreThanTheGreatestNumberOfHandshakesAreClosed() {
		TestListener listener = this.fixture.listen(new ListenOptions(16, 2, 16, VerbsFixture.DEADLINE.toNanos()));
		VerbsEndpoint first = this.fixture.left().endpoint();
		CompletableFuture<ConnectionInfo> firstConnecting = connecting(first, listener.address());
		ConnectionRequest firstRequest = listener.awaitRequest();
		VerbsEndpoint second = this.fixture.left().endpoint();
		CompletableFuture<ConnectionInfo> secondConnecting = connecting(second, listener.address());
		ConnectionRequest secondRequest = listener.awaitRequest();
		assertThat(this.fixture.awaitFailure(connecting(this.fixture.left().endpoint(), listener.address())).error())
			.isIn(DROPPED);
		this.fixture
			.accept(firstRequest, first, firstConnecting, this.fixture.right().endpoint(),
					this.fixture.connectOptions())
			.greet();
		this.fixture
			.accept(secondRequest, second, secondConnecting, this.fixture.right().endpoint(),
					this.fixture.connectOptions())
			.greet();
		connect(listener).greet();
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void aHandlerThatThrowsDoesNotEndTheListener(boolean error) {
		VerbsEndpoint left = this.fixture.left().endpoint();
		VerbsEndpoint right = this.fixture.right().endpoint();
		CompletableFuture<CompletableFuture<ConnectionInfo>> accepting = new CompletableFuture<>();
		ConnectOptions provoking = this.fixture.connectOptions()
			.withPrivateData(new byte[] { 1 })
			.withTimeout(PATIENCE);
		try (ConnectionListener listener = this.fixture.right()
			.device()
			.listen(this.fixture.anyPort(), new ListenOptions(16, 16, 16, VerbsFixture.DEADLINE.dividedBy(2).toNanos()),
					(request) -> {
						if (request.privateData().length > 0) {
							if (error) {
								throw new OutOfMemoryError("a handler that throws, on purpose");
							}
							throw new IllegalStateException("a handler that throws, on purpose");
						}
						accepting.complete(request.accept(right.queuePair(), this.fixture.connectOptions()));
					})) {
			VerbsEndpoint provoker = this.fixture.left().endpoint();
			assertThat(this.fixture
				.awaitFailure(
						this.fixture.left().device().connect(provoker.queuePair(), listener.localAddress(), provoking))
				.error()).isIn(DROPPED);
			ConnectionInfo leftInfo = this.fixture.awaitResult(connecting(left, listener.localAddress()));
			ConnectionInfo rightInfo = this.fixture.awaitResult(this.fixture.awaitResult(accepting));
			left.connected();
			right.connected();
			new ConnectedPair(this.fixture, left, right, leftInfo, rightInfo).greet();
		}
	}

}
