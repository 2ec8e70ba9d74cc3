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

import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.function.BooleanSupplier;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.TestEnvironment;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Drives both sides of a test by polling all their completion queues, until what the test
 * waits for has happened or the deadline is over. Nothing ever sleeps.
 */
class ProgressLoop {

	/** How long anything may take before it counts as hung. */
	static final Duration DEADLINE = TestEnvironment.patience(Duration.ofSeconds(30));

	private final Queue<String> violations = new ConcurrentLinkedQueue<>();

	private final List<CompletionCollector> collectors = new CopyOnWriteArrayList<>();

	/** What was reported that should not have been. */
	Queue<String> violations() {
		return this.violations;
	}

	CompletionCollector track(CompletionCollector collector) {
		this.collectors.add(collector);
		return collector;
	}

	/** Polls every completion queue once, except those somebody else polls. */
	int progress() {
		int count = 0;
		for (CompletionCollector collector : this.collectors) {
			if (!collector.isHandsOff()) {
				count += collector.poll();
			}
		}
		if (!this.violations.isEmpty()) {
			throw new AssertionError("violations: " + this.violations);
		}
		return count;
	}

	/** Gives up the processor, of which there may be fewer than busy threads. */
	@SuppressWarnings("ThreadPriorityCheck")
	static void letOthersRun() {
		Thread.yield();
	}

	/** Drives all sides until a condition holds. */
	void await(String what, BooleanSupplier condition) {
		long startNanos = System.nanoTime();
		while (!condition.getAsBoolean()) {
			if (progress() == 0) {
				letOthersRun();
			}
			if (System.nanoTime() - startNanos > DEADLINE.toNanos()) {
				throw new AssertionError("not within " + DEADLINE + ": " + what);
			}
		}
	}

	Completed awaitCompletion(VerbsEndpoint endpoint, long id) {
		await("completion " + id + " of " + endpoint.name(), () -> completion(endpoint, id) != null);
		return nonNull(completion(endpoint, id));
	}

	private @Nullable Completed completion(VerbsEndpoint endpoint, long id) {
		Completed sent = endpoint.sends().completion(id);
		return (sent != null) ? sent : endpoint.receives().completion(id);
	}

	Completed awaitSuccess(VerbsEndpoint endpoint, long id) {
		return awaitStatus(endpoint, id, WorkStatus.SUCCESS);
	}

	Completed awaitStatus(VerbsEndpoint endpoint, long id, WorkStatus status) {
		Completed completed = awaitCompletion(endpoint, id);
		assertThat(completed.status())
			.as("%s of %s, fault %s", completed, endpoint.name(), endpoint.queuePair().fault())
			.isEqualTo(status);
		return completed;
	}

	/** Waits until the connection has ended and everything posted to it is reported. */
	void awaitSettled(VerbsEndpoint endpoint) {
		await(endpoint.name() + " in error and flushed", endpoint::isSettled);
		assertThat(endpoint.disconnects()).as("times the end of %s was announced", endpoint.name()).isOne();
		assertThat(endpoint.announced()).isNotNull().isEqualTo(endpoint.fault());
	}

	<T> T awaitResult(CompletableFuture<T> future) {
		await("a result", future::isDone);
		return future.join();
	}

	/** Waits for a future to fail as verbs do. */
	VerbsException awaitFailure(CompletableFuture<?> future) {
		await("a failure", future::isDone);
		try {
			throw new AssertionError("not failed: " + future.get());
		}
		catch (ExecutionException ex) {
			assertThat(ex.getCause()).isInstanceOf(VerbsException.class);
			return (VerbsException) nonNull(ex.getCause());
		}
		catch (InterruptedException ex) {
			throw new AssertionError("interrupted", ex);
		}
	}

	/** Waits, with an eye on the deadline, for what runs beside the test thread. */
	<T> T awaitEnd(Future<T> task) {
		await("the end of what runs beside the test thread", task::isDone);
		try {
			return task.get();
		}
		catch (ExecutionException ex) {
			throw new AssertionError("failed beside the test thread: " + ex.getCause(), ex.getCause());
		}
		catch (InterruptedException ex) {
			throw new AssertionError("interrupted", ex);
		}
	}

	static <T> T nonNull(@Nullable T value) {
		assertThat(value).isNotNull();
		return Objects.requireNonNull(value);
	}

}
