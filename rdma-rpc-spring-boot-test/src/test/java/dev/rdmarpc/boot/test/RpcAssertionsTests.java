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

package dev.rdmarpc.boot.test;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Flow;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

import dev.rdmarpc.rpc.FieldViolations;
import dev.rdmarpc.rpc.RpcException;
import dev.rdmarpc.rpc.RpcStatus;

import static dev.rdmarpc.boot.test.RpcAssertions.assertThatCall;
import static dev.rdmarpc.boot.test.RpcAssertions.assertThatFailure;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** What is asserted about failed calls, and what is said when it is not so. */
class RpcAssertionsTests {

	private static final FieldViolations VIOLATIONS = new FieldViolations(
			List.of(new FieldViolations.Violation("article", "must not be blank")), 0);

	private final RpcException failure = new RpcException(RpcStatus.NOT_FOUND, "no such article", VIOLATIONS);

	private void fail() {
		throw this.failure;
	}

	private static void assertSays(String message, Runnable assertion) {
		assertThatExceptionOfType(AssertionError.class).isThrownBy(assertion::run).withMessageContaining(message);
	}

	@Test
	void whatACallFailsWith() {
		assertThatCall(this::fail).failsWith(RpcStatus.NOT_FOUND)
			.hasDetail("no such article")
			.hasDetailContaining("such")
			.hasMessageContaining("NOT_FOUND")
			.details(FieldViolations.class)
			.isEqualTo(VIOLATIONS);
	}

	@Test
	void whatAFutureFailsWith() {
		CompletableFuture<String> future = new CompletableFuture<>();
		future.completeExceptionally(this.failure);
		assertThatCall(future).failsWith(RpcStatus.NOT_FOUND);
		assertThatCall(future.thenApply(String::length)).failsWith(RpcStatus.NOT_FOUND);
	}

	@Test
	void whatACallReturnsIsWaitedFor() {
		CompletableFuture<String> failed = CompletableFuture.failedFuture(this.failure);
		CompletableFuture<String> known = CompletableFuture.completedFuture("pear");
		assertThatCall(() -> failed).failsWith(RpcStatus.NOT_FOUND);
		assertThatCall(failed::copy).failsWith(RpcStatus.NOT_FOUND);
		assertThatCall(() -> failed.minimalCompletionStage()).failsWith(RpcStatus.NOT_FOUND);
		assertSays("NOT_FOUND", () -> assertThatCall(() -> failed).succeeds());
		assertThatCall(() -> known).succeeds();
		assertThatCall(() -> known.minimalCompletionStage()).succeeds();
		assertThatCall(() -> Mono.fromFuture(failed)).failsWith(RpcStatus.NOT_FOUND);
		assertThatCall(() -> Mono.just("pear")).succeeds();
		assertThatCall(() -> "pear").succeeds();
		assertThatCall(() -> null).succeeds();
		assertThatCall(() -> {
			throw this.failure;
		}).failsWith(RpcStatus.NOT_FOUND);
	}

	@Test
	void aStreamHasToBeRead() {
		assertSays("that nobody reads", () -> assertThatCall(() -> Stream.of("pear")).succeeds());
		assertSays("that nobody reads",
				() -> assertThatCall(() -> (Flow.Publisher<String>) (subscriber) -> this.fail()).succeeds());
		assertSays("that nobody reads", () -> assertThatCall(() -> Flux.just("pear")).succeeds());
		assertThatCall(() -> Stream.of("pear").toList()).succeeds();
	}

	@Test
	void whatADeclaredExceptionStandsFor() {
		assertThatFailure(new IllegalStateException("declared", this.failure)).hasStatus(RpcStatus.NOT_FOUND);
	}

	@Test
	void whatIsNotSoIsSaid() {
		assertSays("status ABORTED but was: dev.rdmarpc.rpc.RpcException: NOT_FOUND: no such article",
				() -> assertThatCall(this::fail).failsWith(RpcStatus.ABORTED));
		assertSays("fail with ABORTED but it succeeded", () -> assertThatCall(() -> {
		}).failsWith(RpcStatus.ABORTED));
		assertSays("the failure of a call but was: java.lang.IllegalStateException: other",
				() -> assertThatFailure(new IllegalStateException("other")));
		assertSays("detail \"other\"", () -> assertThatFailure(this.failure).hasDetail("other"));
		assertSays("contains \"other\"", () -> assertThatFailure(this.failure).hasDetailContaining("other"));
		assertSays("details of type " + Other.class.getName(),
				() -> assertThatFailure(this.failure).details(Other.class));
	}

	@Test
	void whatSucceeds() {
		assertThatCall(() -> assertThat(1).isOne()).succeeds();
		assertSays("NOT_FOUND", () -> assertThatCall(this::fail).succeeds());
	}

	/** No details of that failure. */
	private record Other(String text) {

	}

}
