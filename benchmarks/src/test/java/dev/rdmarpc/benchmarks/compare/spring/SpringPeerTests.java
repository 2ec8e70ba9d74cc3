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

package dev.rdmarpc.benchmarks.compare.spring;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.TimeUnit;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.context.ConfigurableApplicationContext;

import dev.rdmarpc.benchmarks.compare.Mode;
import dev.rdmarpc.benchmarks.compare.PeerClient;
import dev.rdmarpc.benchmarks.compare.PeerServer;
import dev.rdmarpc.benchmarks.compare.Workload;
import dev.rdmarpc.benchmarks.compare.grpc.GrpcSpringPeer;
import dev.rdmarpc.benchmarks.compare.rdma.RdmaSpringPeer;

import static org.assertj.core.api.Assertions.assertThat;

class SpringPeerTests {

	private static final long SHORT = TimeUnit.MILLISECONDS.toNanos(20);

	@ParameterizedTest
	@EnumSource
	void callsAreObservedUnlessSwitchedOff(Subject subject) throws Exception {
		SpringPeer peer = subject.create();
		try (PeerServer server = peer.startServer()) {
			InetSocketAddress address = new InetSocketAddress(InetAddress.getLoopbackAddress(), server.port());
			long calls = 0;
			for (Mode mode : new Mode[] { Mode.SYNC, Mode.ASYNC, Mode.THREADS }) {
				for (int bytes : new int[] { 64, 65536 }) {
					try (PeerClient client = peer.connect(address, new Workload(mode, bytes))) {
						calls += client.run(SHORT, (nanos) -> {
						});
					}
				}
			}
			ConfigurableApplicationContext clients = peer.clients();
			assertThat(clients).isNotNull();
			assertThat(clients.getEnvironment().getProperty("spring.application.name")).as("of the sample").isNull();
			Timer timer = clients.getBean(MeterRegistry.class).find(subject.timer).timer();
			if (subject.observed) {
				assertThat(timer).isNotNull();
				assertThat(timer.count()).isGreaterThan(0);
				assertThat(clients.getBean(MeterRegistry.class)
					.find(subject.timer)
					.timers()
					.stream()
					.mapToLong(Timer::count)
					.sum()).isEqualTo(calls);
			}
			else {
				assertThat(timer).isNull();
			}
			clients.close();
		}
	}

	private enum Subject {

		GRPC("grpc.client", true) {
			@Override
			SpringPeer create() {
				return new GrpcSpringPeer();
			}
		},

		RDMA("rdma.rpc.client.calls", true) {
			@Override
			SpringPeer create() {
				return new RdmaSpringPeer(true);
			}
		},

		RDMA_UNOBSERVED("rdma.rpc.client.calls", false) {
			@Override
			SpringPeer create() {
				return new RdmaSpringPeer(false);
			}
		};

		private final String timer;

		private final boolean observed;

		Subject(String timer, boolean observed) {
			this.timer = timer;
			this.observed = observed;
		}

		abstract SpringPeer create();

	}

}
