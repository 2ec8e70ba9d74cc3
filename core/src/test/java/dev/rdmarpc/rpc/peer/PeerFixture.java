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

package dev.rdmarpc.rpc.peer;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.UnaryOperator;

import dev.rdmarpc.memory.RegisteredMemory;
import dev.rdmarpc.rpc.CallOptions;
import dev.rdmarpc.rpc.RpcClient;
import dev.rdmarpc.rpc.RpcClientOptions;
import dev.rdmarpc.rpc.RpcException;
import dev.rdmarpc.transport.RdmaTransport;
import dev.rdmarpc.transport.TransportOptions;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

/** A client of the peer; closing it checks that nothing is outstanding on either side. */
final class PeerFixture implements AutoCloseable {

	final RegisteredMemory memory = PeerSettings.memory();

	final RdmaTransport transport;

	final RpcClient client;

	/** Calls with a deadline that only a hanging call reaches. */
	final PeerService service;

	private final String host;

	private final int port;

	PeerFixture(String host, int port) {
		this(host, port, PeerSettings.transport(), UnaryOperator.identity());
	}

	PeerFixture(String host, int port, TransportOptions transportOptions, UnaryOperator<RpcClientOptions> options) {
		this.host = host;
		this.port = port;
		this.transport = PeerSettings.open(transportOptions, this.memory);
		this.client = newClient(options);
		this.service = patient(this.client.proxy(PeerService.class));
		this.service.echo("there?");
	}

	RpcClient newClient(UnaryOperator<RpcClientOptions> options) {
		return RpcClient.builder()
			.transport(this.transport)
			.target(this.host, this.port)
			.options(options.apply(RpcClientOptions.DEFAULTS.withChannel(PeerSettings.channel())
				.withBackoff(Duration.ofMillis(10), Duration.ofMillis(100))))
			.build();
	}

	static PeerService patient(PeerService service) {
		return CallOptions.deadline(PeerSettings.seconds(60)).withWaitForReady().on(service);
	}

	long readBytes() {
		return this.transport.loops().stream().mapToLong((loop) -> loop.metrics().readBytes()).sum();
	}

	static void awaitTrue(BooleanSupplier condition) {
		long deadline = System.nanoTime() + PeerSettings.seconds(20).toNanos();
		while (!condition.getAsBoolean()) {
			assertThat(System.nanoTime() - deadline).as("condition not met in time").isNegative();
			LockSupport.parkNanos(1_000_000);
		}
	}

	static <T> T get(CompletableFuture<T> future) throws Exception {
		return future.get(PeerSettings.seconds(60).toNanos(), TimeUnit.NANOSECONDS);
	}

	static RpcException failureOf(Runnable call) {
		return catchThrowableOfType(RpcException.class, call::run);
	}

	static RpcException failureOf(CompletableFuture<?> call) {
		ExecutionException failure = catchThrowableOfType(ExecutionException.class, () -> get(call));
		assertThat(failure).as("a failure").isNotNull();
		return (RpcException) failure.getCause();
	}

	@Override
	public void close() {
		awaitTrue(() -> this.service.state().activeCalls() == 1);
		this.client.close();
		this.transport.close();
		awaitTrue(() -> this.memory.metrics().allocatedBytes() == 0);
		this.memory.close();
	}

}
