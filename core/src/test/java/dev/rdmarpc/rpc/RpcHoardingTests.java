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

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.UnaryOperator;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import dev.rdmarpc.memory.RegisteredBuffer;
import dev.rdmarpc.transport.RpcChannel;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Handlers and callers that keep every buffer they get. When there is no memory left
 * calls fail; connections do not.
 */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@Tag("slow")
class RpcHoardingTests {

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void handlerThatKeepsEverythingFailsCallsAndNotTheConnection(boolean inline) {
		try (RpcFixture fixture = new RpcFixture(UnaryOperator.identity(), UnaryOperator.identity(), 8L << 20)) {
			HoardService service = new HoardService();
			try (RpcServer server = fixture.startServer(Hoard.class, service);
					RpcClient client = fixture.newClient(server)) {
				Hoard hoard = CallOptions.deadline(Duration.ofSeconds(20)).on(client.proxy(Hoard.class));
				RegisteredBuffer data = fixture.clientMemory.allocate(700);
				Runnable call = inline ? () -> hoard.keepInline(data) : () -> hoard.keep(data);
				call.run();
				List<RpcChannel> channels = server.channels();
				int kept = callUntilItFails(call);
				assertThat(kept).as("calls that were served").isGreaterThan(300);
				for (int i = 0; i < 500; i++) {
					RpcException failure = RpcFixture.failureOf(call);
					assertThat(failure).as("call %d without memory", i).isNotNull();
					assertThat(failure.status()).isEqualTo(RpcStatus.RESOURCE_EXHAUSTED);
				}
				assertThat(server.channels()).as("the same connection").isEqualTo(channels);
				service.release();
				RpcFixture.awaitTrue(() -> RpcFixture.failureOf(call) == null);
				assertThat(server.channels()).as("still the same").isEqualTo(channels);
				service.release();
				data.release();
			}
		}
	}

	@Test
	void callerThatKeepsEverythingFailsItsCallsAndNotTheConnection() {
		try (RpcFixture fixture = new RpcFixture(UnaryOperator.identity(), UnaryOperator.identity(), 64L << 20)) {
			HoardService service = new HoardService();
			List<RegisteredBuffer> kept = new CopyOnWriteArrayList<>();
			try (RpcServer server = fixture.startServer(Hoard.class, service);
					RpcClient client = fixture.newClient(server)) {
				Hoard hoard = CallOptions.deadline(Duration.ofSeconds(20)).on(client.proxy(Hoard.class));
				RegisteredBuffer data = fixture.clientMemory.allocate(700);
				kept.add(hoard.echo(data));
				List<RpcChannel> channels = server.channels();
				callUntilItFails(() -> kept.add(hoard.echo(data)));
				for (int i = 0; i < 20; i++) {
					RpcException failure = RpcFixture.failureOf(() -> kept.add(hoard.echo(data)));
					assertThat(failure).as("call %d without memory", i).isNotNull();
					assertThat(failure.status()).isEqualTo(RpcStatus.RESOURCE_EXHAUSTED);
				}
				kept.forEach(RegisteredBuffer::release);
				kept.clear();
				RpcFixture.awaitTrue(() -> RpcFixture.failureOf(() -> kept.add(hoard.echo(data))) == null);
				assertThat(server.channels()).as("the same connection").isEqualTo(channels);
				kept.forEach(RegisteredBuffer::release);
				data.release();
			}
		}
	}

	private static int callUntilItFails(Runnable call) {
		for (int calls = 0; calls < 20_000; calls++) {
			RpcException failure = RpcFixture.failureOf(call);
			if (failure != null) {
				assertThat(failure.status()).isEqualTo(RpcStatus.RESOURCE_EXHAUSTED);
				return calls;
			}
		}
		throw new AssertionError("memory without end");
	}

	/** The service of the test. */
	interface Hoard {

		void keep(RegisteredBuffer data);

		@RdmaMethod(inline = true)
		void keepInline(RegisteredBuffer data);

		@RdmaMethod(inline = true)
		RegisteredBuffer echo(RegisteredBuffer data);

	}

	private static final class HoardService implements Hoard {

		private final List<RegisteredBuffer> kept = new CopyOnWriteArrayList<>();

		@Override
		public void keep(RegisteredBuffer data) {
			this.kept.add(data.retain());
		}

		@Override
		public void keepInline(RegisteredBuffer data) {
			keep(data);
		}

		@Override
		public RegisteredBuffer echo(RegisteredBuffer data) {
			return data;
		}

		void release() {
			this.kept.forEach(RegisteredBuffer::release);
			this.kept.clear();
		}

	}

}
