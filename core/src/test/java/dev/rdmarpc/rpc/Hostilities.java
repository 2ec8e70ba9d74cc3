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
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;

import dev.rdmarpc.transport.ChannelOptions;
import dev.rdmarpc.transport.RpcChannel;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A server that is attacked while a good client calls it: no call of the good client
 * fails, and when the attack is over its connection is all that is left.
 */
final class Hostilities {

	private Hostilities() {
	}

	/**
	 * Attacks.
	 * @param channel of the server
	 * @param attack what the test does while the good client calls; whoever it connects
	 * has left when it returns
	 */
	static void attack(ChannelOptions channel, Consumer<RpcFixture> attack) {
		UnaryOperator<RpcServerOptions> options = (server) -> server.withChannel(channel)
			.withDrainTimeout(Duration.ofSeconds(2));
		try (RpcFixture fixture = new RpcFixture(options, UnaryOperator.identity())) {
			Echo echo = CallOptions.deadline(Duration.ofSeconds(20)).on(fixture.echo);
			assertThat(echo.echo("before")).isEqualTo("before");
			AtomicBoolean over = new AtomicBoolean();
			CompletableFuture<Integer> good = callUntil(over, echo);
			try {
				attack.accept(fixture);
			}
			finally {
				over.set(true);
			}
			assertThat(good.join()).as("calls of the good client, none of which failed").isPositive();
			assertThat(fixture.client.state()).isEqualTo(ConnectionState.READY);
			RpcFixture.awaitTrue(() -> fixture.server.channels().size() == 1);
			RpcFixture.awaitTrue(() -> fixture.server.activeCalls() == 0);
			assertThat(fixture.server.channels()).allMatch(RpcChannel::isOpen);
		}
	}

	private static CompletableFuture<Integer> callUntil(AtomicBoolean over, Echo echo) {
		return CompletableFuture.supplyAsync(() -> {
			int calls = 0;
			do {
				assertThat(echo.echo("call " + calls)).isEqualTo("call " + calls);
				calls++;
			}
			while (!over.get());
			return calls;
		}, (task) -> new Thread(task, "good-client").start());
	}

}
