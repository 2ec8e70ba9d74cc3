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

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;

/** The thread of a handler is interrupted while it runs that, and not later. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class InterruptibleRunTests {

	private static final int ROUNDS = 20_000;

	private final InterruptibleRun run = new InterruptibleRun();

	/** The round whose call is cancelled, as its runner sees it. */
	private volatile int cancelled;

	/** The round that runner and canceller have begun. */
	private volatile int begun;

	/** The round that the canceller has ended. */
	private volatile int ended;

	private volatile boolean over;

	@AfterEach
	void end() {
		this.over = true;
		Thread.interrupted();
	}

	@Test
	void interruptsWhoRuns() {
		this.run.interrupt();
		assertThat(Thread.interrupted()).as("before").isFalse();
		for (boolean stays : new boolean[] { true, false, true }) {
			this.run.begin();
			this.run.interrupt();
			assertThat(Thread.interrupted()).as("while").isTrue();
			this.run.end(stays);
			this.run.interrupt();
			assertThat(Thread.interrupted()).as("after").isFalse();
		}
	}

	@Test
	void interruptsTheThreadThatRunsNow() throws Exception {
		this.run.begin();
		this.run.end(true);
		CompletableFuture<Boolean> other = CompletableFuture.supplyAsync(() -> {
			this.run.begin();
			this.run.interrupt();
			boolean interrupted = Thread.interrupted();
			this.run.end(false);
			return interrupted;
		});
		assertThat(other.get(30, TimeUnit.SECONDS)).isTrue();
		assertThat(Thread.interrupted()).isFalse();
	}

	/** A runner that goes on until the other has cancelled sees that one way or other. */
	@Test
	void noCancellationIsLost() throws Exception {
		CompletableFuture<Void> canceller = CompletableFuture.runAsync(this::cancelEachRound);
		for (int round = 1; round <= ROUNDS; round++) {
			this.begun = round;
			this.run.begin();
			boolean sees = this.cancelled == round;
			awaitCanceller(round);
			boolean interrupted = Thread.interrupted();
			this.run.end(true);
			assertThat(sees || interrupted).as("round %d", round).isTrue();
		}
		canceller.get(30, TimeUnit.SECONDS);
	}

	/** As a call does it. */
	@Test
	void whatComesAfterTheRunIsNotInterrupted() throws Exception {
		CompletableFuture<Void> canceller = CompletableFuture.runAsync(this::cancelEachRound);
		for (int round = 1; round <= ROUNDS; round++) {
			this.begun = round;
			this.run.begin();
			this.run.end(true);
			if (this.cancelled == round) {
				Thread.interrupted();
			}
			awaitCanceller(round);
			assertThat(Thread.interrupted()).as("round %d", round).isFalse();
		}
		canceller.get(30, TimeUnit.SECONDS);
	}

	private void cancelEachRound() {
		for (int round = 1; round <= ROUNDS; round++) {
			while (this.begun < round && !this.over) {
				pause();
			}
			this.cancelled = round;
			this.run.interrupt();
			this.ended = round;
		}
	}

	private void awaitCanceller(int round) {
		while (this.ended < round) {
			pause();
		}
	}

	/** The other thread may have no processor. */
	@SuppressWarnings("ThreadPriorityCheck")
	private static void pause() {
		Thread.yield();
	}

}
