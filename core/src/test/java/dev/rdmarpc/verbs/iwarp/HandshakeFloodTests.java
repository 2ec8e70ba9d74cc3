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

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import dev.rdmarpc.Await;
import dev.rdmarpc.verbs.ConnectOptions;
import dev.rdmarpc.verbs.ConnectionListener;
import dev.rdmarpc.verbs.ConnectionRequest;
import dev.rdmarpc.verbs.ListenOptions;
import dev.rdmarpc.verbs.iwarp.wire.MpaFrameFlyweight;

import static org.assertj.core.api.Assertions.assertThat;

/** Peers that connect and say nothing, and those that have to get past them. */
class HandshakeFloodTests {

	private static final ListenOptions PATIENT = new ListenOptions(1024, 64, 1024, Duration.ofMinutes(5).toNanos());

	private final IwarpDevice device = (IwarpDevice) new IwarpProvider().openDevice(null);

	private final LinkedBlockingQueue<ConnectionRequest> requests = new LinkedBlockingQueue<>();

	private final ConnectionListener listener = this.device
		.listen(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), PATIENT, this.requests::add);

	private final List<RawPeer> peers = new ArrayList<>();

	@AfterEach
	void close() throws IOException {
		for (RawPeer peer : this.peers) {
			peer.close();
		}
		this.listener.close();
		this.device.close();
	}

	private RawPeer silent() throws IOException {
		RawPeer peer = new RawPeer(this.listener.localAddress());
		this.peers.add(peer);
		return peer;
	}

	/** A peer at another of the loopback addresses. */
	private RawPeer silentFrom(String address) throws IOException {
		InetSocketAddress target = this.listener.localAddress();
		RawPeer peer = new RawPeer(
				new Socket(target.getAddress(), target.getPort(), InetAddress.getByName(address), 0));
		this.peers.add(peer);
		return peer;
	}

	private static void request(RawPeer peer) throws IOException {
		peer.write(MpaFrameFlyweight.encodeEnhanced(true, 0, 4, 4, new byte[0]));
	}

	private void accept(RawPeer peer) throws Exception {
		ConnectionRequest request = this.requests.poll(Endpoint.DEADLINE.toSeconds(), TimeUnit.SECONDS);
		assertThat(request).isNotNull();
		try (Endpoint endpoint = new Endpoint(this.device)) {
			ConnectedPair.get(request.accept(endpoint.queuePair, ConnectOptions.DEFAULTS));
			assertThat(peer.readMpaFrame().rejected()).isFalse();
		}
	}

	@Test
	void thoseThatSayNothingKeepNobodyOut() throws Exception {
		for (int i = 0; i < 300; i++) {
			silent();
		}
		RawPeer good = silent();
		request(good);
		accept(good);
	}

	@Test
	void aSourceThatFillsItsShareTakesNoPlaceOfAnother() throws Exception {
		RawPeer slow = silentFrom("127.0.0.2");
		for (int i = 0; i < 300; i++) {
			silent();
		}
		assertThat(this.peers.get(1).isCutOff()).as("the oldest of the greedy source").isTrue();
		request(slow);
		accept(slow);
	}

	@Test
	void aRequestThatHasComeIsNotGivenUp() throws Exception {
		CountDownLatch held = new CountDownLatch(1);
		this.device.connectionThread().execute(() -> {
			try {
				held.await(Endpoint.DEADLINE.toSeconds(), TimeUnit.SECONDS);
			}
			catch (InterruptedException ex) {
				throw new AssertionError(ex);
			}
		});
		RawPeer good = silent();
		request(good);
		for (int i = 0; i < 100; i++) {
			silent();
		}
		held.countDown();
		accept(good);
	}

	/** Handlers keep queue pairs, of which a process cannot have any number. */
	@Test
	void oneThatSaysNothingKeepsNothingOfThoseThatHaveFinishedBehindIt() throws Exception {
		silent();
		for (int i = 0; i < 20; i++) {
			try (RawPeer peer = new RawPeer(this.listener.localAddress())) {
				request(peer);
				ConnectionRequest request = this.requests.poll(Endpoint.DEADLINE.toSeconds(), TimeUnit.SECONDS);
				assertThat(request).isNotNull();
				request.reject(new byte[0]);
				assertThat(peer.readMpaFrame().rejected()).isTrue();
			}
		}
		Await.until(() -> held() == 2); // the listener and the one that says nothing
	}

	private int held() {
		ConnectionThread thread = this.device.connectionThread();
		return CompletableFuture.supplyAsync(thread::held, thread::execute).join();
	}

	/** As when there is no memory to say why a connection cannot be accepted. */
	@Test
	void aFailureThatCannotBeToldEndsNoListener() throws Exception {
		ListenOptions one = new ListenOptions(16, 1, 16, Duration.ofMinutes(5).toNanos()).withDropped((remote, why) -> {
			throw new UnspeakableError();
		});
		try (ConnectionListener strict = this.device.listen(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
				one, this.requests::add); RawPeer first = new RawPeer(strict.localAddress())) {
			request(first);
			ConnectionRequest pending = this.requests.poll(Endpoint.DEADLINE.toSeconds(), TimeUnit.SECONDS);
			assertThat(pending).isNotNull();
			try (RawPeer refused = new RawPeer(strict.localAddress())) {
				assertThat(refused.isCutOff()).isTrue();
			}
			pending.reject(new byte[0]);
			assertThat(first.readMpaFrame().rejected()).isTrue();
			try (RawPeer second = new RawPeer(strict.localAddress())) {
				request(second);
				accept(second);
			}
		}
	}

	private static final class UnspeakableError extends Error {

		@Override
		public String getMessage() {
			throw new OutOfMemoryError("made up");
		}

	}

}
