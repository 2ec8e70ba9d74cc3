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

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import dev.rdmarpc.verbs.ConnectOptions;
import dev.rdmarpc.verbs.ConnectionInfo;
import dev.rdmarpc.verbs.ConnectionListener;
import dev.rdmarpc.verbs.ListenOptions;
import dev.rdmarpc.verbs.QueuePairState;
import dev.rdmarpc.verbs.VerbsDevice;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Connections through a proxy that flips, cuts, splits and delays: never a wrong byte
 * under a CRC, never a request without a completion, never a hang.
 */
class FaultyConnectionTests {

	private static final long SEED = Long.getLong("rdmarpc.test.seed", 20260731L);

	private static final IwarpOptions OPTIONS = IwarpOptions.DEFAULTS.withCrc(CrcMode.REQUIRED)
		.withTimeouts(Duration.ofMillis(300), Duration.ofMillis(300));

	/** Longer than the pauses of the proxy, far shorter than a test may take. */
	private static final Duration SHORT = Duration.ofMillis(500);

	@Test
	void flippedBitsNeverBecomeWrongBytes() throws Exception {
		int ended = 0;
		for (int i = 0; i < 60; i++) {
			ended += run(OPTIONS, new FaultyProxy.Faults(SEED + i, true, false, 200 << i % 12)) ? 1 : 0;
		}
		assertThat(ended).as("connections that met their fault").isGreaterThan(20);
	}

	@Test
	void flippedBitsAmongShortSegmentsNeverBecomeWrongBytes() throws Exception {
		for (int i = 0; i < 30; i++) {
			run(OPTIONS.withMaxUlpduBytes(1442), new FaultyProxy.Faults(SEED + 1000 + i, true, false, 200 << i % 12));
		}
	}

	@Test
	void cutConnectionsFlushEverything() throws Exception {
		for (int i = 0; i < 60; i++) {
			CrcMode crc = (i % 2 == 0) ? CrcMode.REQUIRED : CrcMode.OFF;
			run(OPTIONS.withCrc(crc), new FaultyProxy.Faults(SEED + 2000 + i, false, true, 200 << i % 12));
		}
	}

	@Test
	void splitAndDelayedStreamsArriveWhole() throws Exception {
		for (int i = 0; i < 20; i++) {
			CrcMode crc = (i % 2 == 0) ? CrcMode.REQUIRED : CrcMode.OFF;
			boolean ended = run(OPTIONS.withCrc(crc), new FaultyProxy.Faults(SEED + 3000 + i, false, false, 1));
			assertThat(ended).as("ended early, seed %d", SEED + 3000 + i).isFalse();
		}
	}

	/** Returns whether the connection ended before all traffic was done. */
	private static boolean run(IwarpOptions options, FaultyProxy.Faults faults) throws Exception {
		try {
			return attempt(options, faults);
		}
		catch (Throwable ex) {
			throw new AssertionError("with " + faults, ex);
		}
	}

	private static boolean attempt(IwarpOptions options, FaultyProxy.Faults faults) throws Exception {
		// where nothing goes wrong a pause of this process is not to end it either
		Duration patience = (faults.flips() || faults.cuts()) ? SHORT : Endpoint.DEADLINE;
		ConnectOptions connect = ConnectOptions.DEFAULTS.withTimeout(patience);
		AtomicReference<@Nullable CompletableFuture<ConnectionInfo>> accepted = new AtomicReference<>();
		try (VerbsDevice device = new IwarpProvider(options).openDevice(null);
				Endpoint client = new Endpoint(device);
				Endpoint server = new Endpoint(device);
				ConnectionListener listener = device.listen(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
						new ListenOptions(16, 16, 16, patience.toNanos()), (request) -> {
							if (accepted.get() == null) {
								accepted.set(request.accept(server.queuePair, connect));
							}
						});
				FaultyProxy proxy = new FaultyProxy(listener.localAddress(), faults)) {
			try {
				device.connect(client.queuePair, proxy.address(), connect).get(20, TimeUnit.SECONDS);
			}
			catch (ExecutionException ex) {
				assertThat(client.queuePair.state()).isIn(QueuePairState.INITIALIZED, QueuePairState.ERROR);
				return true;
			}
			CompletableFuture<ConnectionInfo> accepting = accepted.get();
			assertThat(accepting).isNotNull();
			accepting.get(10, TimeUnit.SECONDS);
			return new PatternTraffic(client, server, faults.seed(), patience).run();
		}
	}

}
