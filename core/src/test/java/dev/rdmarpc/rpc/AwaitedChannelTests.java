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

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import dev.rdmarpc.TestEnvironment;
import dev.rdmarpc.transport.RpcChannel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

@Timeout(60)
class AwaitedChannelTests {

	private final AwaitedChannel awaited = new AwaitedChannel();

	@Test
	void whoWaitsNoLongerIsForgotten() {
		List<CompletableFuture<RpcChannel>> late = new ArrayList<>();
		for (int i = 0; i < 1000; i++) {
			late.add(this.awaited.waiter().orTimeout(1, TimeUnit.NANOSECONDS));
		}
		CompletableFuture<RpcChannel> patient = this.awaited.waiter();
		CompletableFuture<RpcChannel> cancelled = this.awaited.waiter();
		cancelled.cancel(false);
		RpcFixture.awaitTrue(() -> this.awaited.waiting() == 1);
		assertThat(late)
			.allSatisfy((waiter) -> assertThatExceptionOfType(ExecutionException.class).isThrownBy(waiter::get)
				.withCauseInstanceOf(TimeoutException.class));
		IllegalStateException failure = new IllegalStateException("none");
		this.awaited.completeExceptionally(failure);
		assertThatExceptionOfType(ExecutionException.class).isThrownBy(patient::get).withCause(failure);
		assertThat(this.awaited.waiting()).isZero();
	}

	@Test
	void whoComesLateIsToldAtOnce() {
		try (RpcFixture fixture = new RpcFixture()) {
			fixture.echo.touch();
			RpcChannel channel = fixture.clientTransport.loops().iterator().next().channels().iterator().next();
			CompletableFuture<RpcChannel> early = this.awaited.waiter();
			this.awaited.complete(channel);
			this.awaited.completeExceptionally(new IllegalStateException("too late"));
			assertThat(early).isCompletedWithValue(channel);
			assertThat(this.awaited.waiter()).isCompletedWithValue(channel);
			assertThat(this.awaited.waiting()).isZero();
		}
	}

	@Test
	void noneIsMissedThatComesMeanwhile() throws Exception {
		IllegalStateException failure = new IllegalStateException("none");
		for (int i = 0; i < TestEnvironment.rounds(2000, 200); i++) {
			AwaitedChannel contended = new AwaitedChannel();
			CompletableFuture<CompletableFuture<RpcChannel>> coming = RpcFixture.inThread(contended::waiter);
			contended.completeExceptionally(failure);
			assertThatExceptionOfType(ExecutionException.class)
				.isThrownBy(() -> coming.get(20, TimeUnit.SECONDS).get(20, TimeUnit.SECONDS))
				.withCause(failure);
			assertThat(contended.waiting()).isZero();
		}
	}

}
