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

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

import dev.rdmarpc.verbs.VerbsDevice;
import dev.rdmarpc.verbs.iwarp.CrcMode;
import dev.rdmarpc.verbs.iwarp.IwarpOptions;
import dev.rdmarpc.verbs.iwarp.IwarpProvider;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A responder and the device of an initiator in one process; closing it checks that the
 * responder's threads have ended.
 */
final class PingFixture implements AutoCloseable {

	static final Duration TIMEOUT = Duration.ofSeconds(10);

	final VerbsDevice initiatorDevice;

	final VerbsDevice responderDevice;

	final PingResponder responder;

	final BlockingQueue<PingOutcome> outcomes = new LinkedBlockingQueue<>();

	PingFixture(CrcMode initiatorCrc, CrcMode responderCrc) {
		this.initiatorDevice = open(initiatorCrc);
		this.responderDevice = open(responderCrc);
		this.responder = new PingResponder(this.responderDevice, loopback(0), true, TIMEOUT, this.outcomes::add);
	}

	PingFixture() {
		this(CrcMode.AUTO, CrcMode.AUTO);
	}

	static VerbsDevice open(CrcMode crc) {
		return new IwarpProvider(IwarpOptions.DEFAULTS.withCrc(crc)).openDevice(null);
	}

	static InetSocketAddress loopback(int port) {
		return new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
	}

	PingReport ping(PingPlan plan) {
		return ping(this.responder.localAddress().getPort(), plan);
	}

	PingReport ping(int port, PingPlan plan) {
		return new PingInitiator(this.initiatorDevice, new PingAddress("127.0.0.1", port), plan, (info) -> {
		}).run();
	}

	static PingPlan plan(int sizeBytes, long count) {
		return new PingPlan(sizeBytes, count, 0, true, TIMEOUT);
	}

	PingOutcome outcome() throws InterruptedException {
		PingOutcome outcome = this.outcomes.poll(TIMEOUT.toSeconds(), TimeUnit.SECONDS);
		assertThat(outcome).as("the end of a connection").isNotNull();
		return outcome;
	}

	@Override
	public void close() {
		this.responder.close();
		this.initiatorDevice.close();
		this.responderDevice.close();
		Thread.getAllStackTraces().keySet().forEach((thread) -> {
			if (thread.getName().startsWith("rdma-ping-")) {
				awaitEnd(thread);
			}
		});
	}

	private static void awaitEnd(Thread thread) {
		try {
			thread.join(TIMEOUT.toMillis());
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
		assertThat(thread.isAlive()).as(thread.getName() + " still runs").isFalse();
	}

}
