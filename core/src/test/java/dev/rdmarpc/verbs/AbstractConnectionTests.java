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

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.FutureTask;

import org.junit.jupiter.api.Test;

import dev.rdmarpc.TestEnvironment;

import static org.assertj.core.api.Assertions.assertThat;

/** Setting connections up, from the side that connects. */
abstract class AbstractConnectionTests extends AbstractVerbsTests {

	/** Longer than a request takes to arrive, also behind a handshake of TLS. */
	private static final Duration SOON = TestEnvironment.scaled(Duration.ofSeconds(1));

	AbstractConnectionTests(VerbsFixture fixture) {
		super(fixture);
	}

	private ConnectOptions saying(String text) {
		return this.fixture.connectOptions().withPrivateData(text.getBytes(StandardCharsets.UTF_8));
	}

	private CompletableFuture<ConnectionInfo> connecting(VerbsEndpoint endpoint, InetSocketAddress to,
			ConnectOptions options) {
		return endpoint.side().device().connect(endpoint.queuePair(), to, options);
	}

	/** After a failed attempt the queue pair must not look connected. */
	private void assertNotConnected(VerbsEndpoint endpoint) {
		this.fixture.await("the end of the attempt", () -> endpoint.state() != QueuePairState.CONNECTING);
		assertThat(endpoint.state()).isIn(QueuePairState.INITIALIZED, QueuePairState.ERROR);
	}

	@Test
	void bothSidesAreReadyWhenToldSo() {
		VerbsEndpoint left = this.fixture.left().endpoint();
		VerbsEndpoint right = this.fixture.right().endpoint();
		assertThat(left.state()).isEqualTo(QueuePairState.INITIALIZED);
		ConnectedPair pair = this.fixture.connect(left, right);
		assertThat(left.state()).isEqualTo(QueuePairState.READY_TO_SEND);
		assertThat(right.state()).isEqualTo(QueuePairState.READY_TO_SEND);
		assertThat(left.queuePair().fault()).isNull();
		assertThat(pair.leftInfo().remoteAddress()).isEqualTo(this.fixture.listener().address());
		assertThat(pair.rightInfo().localAddress()).isEqualTo(this.fixture.listener().address());
		assertThat(pair.rightInfo().remoteAddress()).isEqualTo(pair.leftInfo().localAddress());
	}

	@Test
	void privateDataTravelsBothWays() {
		for (int length : new int[] { 0, 1, 17, ConnectOptions.MAX_PRIVATE_DATA_BYTES }) {
			byte[] question = new byte[length];
			byte[] answer = new byte[length];
			this.fixture.random().nextBytes(question);
			this.fixture.random().nextBytes(answer);
			VerbsEndpoint left = this.fixture.left().endpoint();
			CompletableFuture<ConnectionInfo> connecting = connecting(left, this.fixture.listener().address(),
					this.fixture.connectOptions().withPrivateData(question));
			ConnectionRequest request = this.fixture.listener().awaitRequest();
			assertThat(request.privateData()).isEqualTo(question);
			ConnectedPair pair = this.fixture.accept(request, left, connecting, this.fixture.right().endpoint(),
					this.fixture.connectOptions().withPrivateData(answer));
			assertThat(pair.leftInfo().privateData()).isEqualTo(answer);
			assertThat(pair.rightInfo().privateData()).isEqualTo(question);
			assertThat(request.remoteAddress()).isEqualTo(pair.leftInfo().localAddress());
		}
	}

	@Test
	void readDepthsAreNegotiated() {
		ConnectOptions asked = new ConnectOptions(new byte[0], 5, 3, VerbsFixture.DEADLINE.toNanos());
		ConnectOptions offered = new ConnectOptions(new byte[0], 6, 4, VerbsFixture.DEADLINE.toNanos());
		ConnectedPair pair = this.fixture.connect(this.fixture.left().endpoint(), this.fixture.right().endpoint(),
				asked, offered);
		assertThat(pair.leftInfo().readDepth()).isBetween(1, Math.min(5, 4));
		assertThat(pair.rightInfo().readDepth()).isBetween(1, Math.min(6, 3));
		assertThat(pair.rightInfo().responderResources()).isGreaterThanOrEqualTo(pair.leftInfo().readDepth());
		assertThat(pair.leftInfo().responderResources()).isGreaterThanOrEqualTo(pair.rightInfo().readDepth());
	}

	@Test
	void aPortWhereNobodyListensRefuses() throws IOException {
		try (Socket bound = new Socket()) {
			bound.bind(this.fixture.anyPort());
			VerbsEndpoint left = this.fixture.left().endpoint();
			VerbsException failure = this.fixture.awaitFailure(
					connecting(left, (InetSocketAddress) bound.getLocalSocketAddress(), this.fixture.connectOptions()));
			assertThat(failure.error()).isEqualTo(VerbsError.CONNECTION_REFUSED);
			assertNotConnected(left);
		}
	}

	@Test
	void aQueuePairThatWasRefusedAtThePortMayTryAgain() throws IOException {
		VerbsEndpoint left = this.fixture.left().endpoint();
		try (Socket bound = new Socket()) {
			bound.bind(this.fixture.anyPort());
			this.fixture.awaitFailure(
					connecting(left, (InetSocketAddress) bound.getLocalSocketAddress(), this.fixture.connectOptions()));
		}
		if (left.state() == QueuePairState.INITIALIZED) {
			this.fixture.connect(left, this.fixture.right().endpoint()).greet();
		}
	}

	@Test
	void aRejectionCarriesItsReason() {
		VerbsEndpoint left = this.fixture.left().endpoint();
		CompletableFuture<ConnectionInfo> connecting = connecting(left, this.fixture.listener().address(),
				this.fixture.connectOptions());
		byte[] reason = "not you".getBytes(StandardCharsets.UTF_8);
		this.fixture.listener().awaitRequest().reject(reason);
		VerbsException failure = this.fixture.awaitFailure(connecting);
		assertThat(failure.error()).isEqualTo(VerbsError.CONNECTION_REJECTED);
		assertThat(failure.privateData()).isEqualTo(reason);
		assertNotConnected(left);
		this.fixture.connect().greet();
	}

	@Test
	void aRequestMayBeAnsweredInItsHandler() {
		VerbsEndpoint right = this.fixture.right().endpoint();
		CompletableFuture<CompletableFuture<ConnectionInfo>> accepting = new CompletableFuture<>();
		VerbsEndpoint left = this.fixture.left().endpoint();
		try (ConnectionListener listener = this.fixture.right()
			.device()
			.listen(this.fixture.anyPort(), ListenOptions.DEFAULTS, (request) -> {
				assertThat(request.privateData()).containsExactly('h', 'i');
				accepting.complete(request.accept(right.queuePair(), saying("welcome")));
			})) {
			ConnectionInfo leftInfo = this.fixture.awaitResult(connecting(left, listener.localAddress(), saying("hi")));
			assertThat(new String(leftInfo.privateData(), StandardCharsets.UTF_8)).isEqualTo("welcome");
			ConnectionInfo rightInfo = this.fixture.awaitResult(this.fixture.awaitResult(accepting));
			left.connected();
			right.connected();
			new ConnectedPair(this.fixture, left, right, leftInfo, rightInfo).greet();
		}
	}

	@Test
	void aRequestMayBeAnsweredLaterByAnotherThread() {
		VerbsEndpoint left = this.fixture.left().endpoint();
		VerbsEndpoint right = this.fixture.right().endpoint();
		CompletableFuture<ConnectionInfo> connecting = connecting(left, this.fixture.listener().address(),
				this.fixture.connectOptions());
		ConnectionRequest request = this.fixture.listener().awaitRequest();
		assertThat(left.state()).isEqualTo(QueuePairState.CONNECTING);
		assertThat(connecting).isNotDone();
		FutureTask<ConnectedPair> accepting = this.fixture.inBackground("accepting",
				() -> this.fixture.accept(request, left, connecting, right, this.fixture.connectOptions()));
		this.fixture.awaitEnd(accepting).greet();
	}

	@Test
	void aRequestIsAnsweredOnce() {
		VerbsEndpoint left = this.fixture.left().endpoint();
		CompletableFuture<ConnectionInfo> connecting = connecting(left, this.fixture.listener().address(),
				this.fixture.connectOptions());
		ConnectionRequest request = this.fixture.listener().awaitRequest();
		ConnectedPair pair = this.fixture.accept(request, left, connecting, this.fixture.right().endpoint(),
				this.fixture.connectOptions());
		VerbsEndpoint second = this.fixture.right().endpoint();
		assertFails(VerbsError.INVALID_STATE, () -> request.accept(second.queuePair(), this.fixture.connectOptions()));
		assertThat(second.state()).isEqualTo(QueuePairState.INITIALIZED);
		pair.greet();
	}

	@Test
	void anAttemptThatIsNeverAnsweredTimesOut() {
		VerbsEndpoint left = this.fixture.left().endpoint();
		long start = System.nanoTime();
		CompletableFuture<ConnectionInfo> connecting = connecting(left, this.fixture.listener().address(),
				this.fixture.connectOptions().withTimeout(SOON));
		ConnectionRequest request = this.fixture.listener().awaitRequest();
		assertThat(this.fixture.awaitFailure(connecting).error()).isEqualTo(VerbsError.TIMED_OUT);
		assertThat(System.nanoTime() - start).isGreaterThanOrEqualTo(SOON.minusMillis(10).toNanos());
		assertNotConnected(left);
		assertThat(request.remoteAddress()).isNotNull();
		this.fixture.connect().greet();
	}

	@Test
	void acceptingAPeerThatHasGoneFails() {
		VerbsEndpoint left = this.fixture.left().endpoint();
		CompletableFuture<ConnectionInfo> connecting = connecting(left, this.fixture.listener().address(),
				this.fixture.connectOptions().withTimeout(SOON));
		ConnectionRequest request = this.fixture.listener().awaitRequest();
		this.fixture.awaitFailure(connecting);
		VerbsEndpoint right = this.fixture.right().endpoint();
		right.leaveUnaccounted();
		long received = right.receive();
		try {
			CompletableFuture<ConnectionInfo> accepting = request.accept(right.queuePair(),
					this.fixture.connectOptions());
			this.fixture.await("an answer", accepting::isDone);
			if (!accepting.isCompletedExceptionally()) {
				right.connected();
				this.fixture.await("the loss to be noticed", () -> right.state() == QueuePairState.ERROR);
				assertThat(this.fixture.awaitCompletion(right, received).isSuccess()).isFalse();
			}
		}
		catch (VerbsException ex) {
			assertThat(ex.error()).isEqualTo(VerbsError.INVALID_STATE);
		}
	}

	@Test
	void anAttemptMayBeCancelled() {
		for (int i = 0; i < TestEnvironment.rounds(20, 6); i++) {
			VerbsEndpoint left = this.fixture.left().endpoint();
			CompletableFuture<ConnectionInfo> connecting = connecting(left, this.fixture.listener().address(),
					this.fixture.connectOptions());
			if (i % 2 == 0) {
				this.fixture.listener().awaitRequest();
			}
			assertThat(connecting.cancel(true)).isTrue();
			assertThat(connecting).isCancelled();
			assertNotConnected(left);
			left.close();
		}
		TestListener fresh = this.fixture.listen(ListenOptions.DEFAULTS);
		VerbsEndpoint left = this.fixture.left().endpoint();
		CompletableFuture<ConnectionInfo> connecting = connecting(left, fresh.address(), this.fixture.connectOptions());
		this.fixture
			.accept(fresh.awaitRequest(), left, connecting, this.fixture.right().endpoint(),
					this.fixture.connectOptions())
			.greet();
	}

	@Test
	void closingTheQueuePairEndsTheAttempt() {
		VerbsEndpoint left = this.fixture.left().endpoint();
		CompletableFuture<ConnectionInfo> connecting = connecting(left, this.fixture.listener().address(),
				this.fixture.connectOptions());
		this.fixture.listener().awaitRequest();
		left.close();
		this.fixture.awaitFailure(connecting);
		assertThat(left.state()).isEqualTo(QueuePairState.CLOSED);
	}

	@Test
	void onlyAFreshQueuePairMayConnect() {
		ConnectedPair pair = this.fixture.connect();
		assertFails(VerbsError.INVALID_STATE,
				() -> connecting(pair.left(), this.fixture.listener().address(), this.fixture.connectOptions()));
		VerbsEndpoint left = this.fixture.left().endpoint();
		CompletableFuture<ConnectionInfo> connecting = connecting(left, this.fixture.listener().address(),
				this.fixture.connectOptions());
		ConnectionRequest request = this.fixture.listener().awaitRequest();
		assertFails(VerbsError.INVALID_STATE,
				() -> connecting(left, this.fixture.listener().address(), this.fixture.connectOptions()));
		assertFails(VerbsError.INVALID_STATE,
				() -> request.accept(pair.right().queuePair(), this.fixture.connectOptions()));
		this.fixture.accept(request, left, connecting, this.fixture.right().endpoint(), this.fixture.connectOptions())
			.greet();
		pair.greet();
	}

	@Test
	void aQueuePairOfAnotherDeviceMayNotBeUsed() {
		VerbsEndpoint right = this.fixture.right().endpoint();
		assertFails(VerbsError.INVALID_ARGUMENT,
				() -> this.fixture.left()
					.device()
					.connect(right.queuePair(), this.fixture.listener().address(), this.fixture.connectOptions()));
	}

	@Test
	void receivesPostedBeforeTheConnectionServeItsFirstMessages() {
		VerbsEndpoint left = this.fixture.left().endpoint();
		VerbsEndpoint right = this.fixture.right().endpoint();
		GuardedMemory sink = this.fixture.right().memory(1000);
		GuardedMemory source = this.fixture.left().memory(1000);
		List<Long> received = new ArrayList<>();
		for (int i = 0; i < 10; i++) {
			received.add(right.receive(sink.segment(i * 100, 100)));
		}
		ConnectedPair pair = this.fixture.connect(left, right);
		for (int i = 0; i < 10; i++) {
			left.send(source.segment(i * 100, 100));
		}
		received.forEach((id) -> pair.awaitSuccess(right, id));
		sink.assertHolds(0, source, 0, 1000);
	}

	@Test
	void theAcceptingSideMayPostFirst() {
		ConnectedPair pair = this.fixture.connect();
		GuardedMemory sink = this.fixture.left().memory(100);
		GuardedMemory source = this.fixture.right().memory(100);
		long received = pair.left().receive(sink.all());
		long sent = pair.right().send(source.all());
		pair.greet();
		pair.awaitSuccess(pair.right(), sent);
		pair.awaitSuccess(pair.left(), received);
		sink.assertHolds(0, source, 0, 100);
	}

	@Test
	void postingToTheSendQueueBeforeTheConnectionIsAnError() {
		VerbsEndpoint left = this.fixture.left().endpoint();
		assertFails(VerbsError.INVALID_STATE, () -> left.queuePair().postSend(new WorkRequest(0).send(1)));
		CompletableFuture<ConnectionInfo> connecting = connecting(left, this.fixture.listener().address(),
				this.fixture.connectOptions());
		ConnectionRequest request = this.fixture.listener().awaitRequest();
		assertFails(VerbsError.INVALID_STATE, () -> left.queuePair().postSend(new WorkRequest(0).send(1)));
		this.fixture.accept(request, left, connecting, this.fixture.right().endpoint(), this.fixture.connectOptions())
			.greet();
	}

	@Test
	void manyConnectionsAreSetUpAtOnce() {
		List<VerbsEndpoint> lefts = new ArrayList<>();
		List<CompletableFuture<ConnectionInfo>> connecting = new ArrayList<>();
		int count = TestEnvironment.rounds(100, 30);
		for (int i = 0; i < count; i++) {
			lefts.add(this.fixture.left().endpoint());
			connecting.add(connecting(lefts.get(i), this.fixture.listener().address(), saying("" + i)));
		}
		for (int i = 0; i < count; i++) {
			ConnectionRequest request = this.fixture.listener().awaitRequest();
			int number = Integer.parseInt(new String(request.privateData(), StandardCharsets.UTF_8));
			this.fixture
				.accept(request, lefts.get(number), connecting.get(number), this.fixture.right().endpoint(),
						this.fixture.connectOptions())
				.greet();
		}
		assertThat(this.fixture.listener().pendingRequests()).isZero();
	}

}
