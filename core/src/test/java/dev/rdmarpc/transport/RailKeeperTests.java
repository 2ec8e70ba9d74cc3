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

package dev.rdmarpc.transport;

import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import dev.rdmarpc.Await;
import dev.rdmarpc.memory.LeakDetection;
import dev.rdmarpc.memory.MemoryOptions;
import dev.rdmarpc.memory.RegisteredMemory;

import static org.assertj.core.api.Assertions.assertThat;

/** Rails that are lost while something fails with which they are repaired. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class RailKeeperTests {

	private final RegisteredMemory memory = RegisteredMemory
		.create(MemoryOptions.DEFAULTS.withInitialBytes(0).withLeakDetection(LeakDetection.PARANOID));

	private final ExecutorService threads = Executors.newCachedThreadPool();

	@AfterEach
	void close() {
		this.threads.shutdown();
		assertThat(this.memory.metrics().outstanding()).isZero();
		this.memory.close();
	}

	@ParameterizedTest
	@EnumSource
	void repairBeginsAnewIfItsNextStepCannotBeScheduled(Failure failure) {
		FailingTimer timer = new FailingTimer(failure, 1);
		repair(timer, this.threads);
		assertThat(timer.schedulings).hasValueGreaterThan(1);
	}

	@ParameterizedTest
	@EnumSource
	void repairBeginsAnewIfThereIsNoThreadNorATimeToAskForOneAgain(Failure failure) {
		FailingTimer timer = new FailingTimer(failure, 2);
		AtomicInteger executions = new AtomicInteger();
		repair(timer, (task) -> {
			if (executions.incrementAndGet() == 2) {
				failure.fire();
			}
			this.threads.execute(task);
		});
		assertThat(executions).hasValueGreaterThan(2);
	}

	private void repair(FailingTimer timer, Executor executor) {
		Rail rail = Rail.open(ProviderSelection.select("iwarp", ProviderSelection.discover()), "", this.memory);
		try {
			RailKeeper keeper = new RailKeeper(List.of(rail), timer, executor, Rail::closeLost);
			rail.lost();
			assertThat(rail.isRunning()).isFalse();
			keeper.start();
			Await.until(rail::isRunning);
		}
		finally {
			timer.shutdownNow();
			rail.close();
		}
	}

	@ParameterizedTest
	@EnumSource
	void allUsersAreToldThatARailIsLostAndItsLoopsAndDeviceClosedThoughTheyFail(Failure failure) {
		try (RdmaTransport transport = RdmaTransport.open(TransportOptions.DEFAULTS, this.memory)) {
			Rail rail = transport.rail();
			List<FailingUser> users = List.of(new FailingUser(failure), new FailingUser(failure));
			users.forEach(transport.keeper()::add);
			List<ChannelLoop> loops = transport.startLoops(rail, "loop", 2, ChannelOptions.DEFAULTS.frameBytes());
			rail.lost();
			Await.until(() -> rail.isRunning() && users.stream().allMatch((user) -> user.returned.get() > 0));
			assertThat(users).allSatisfy((user) -> assertThat(user.lost).hasValue(1));
			assertThat(loops).allMatch(ChannelLoop::isClosed);
			assertThat(transport.loops()).isEmpty();
		}
	}

	@Test
	void eachIsDoneAlsoAfterOneThatFails() {
		AtomicInteger done = new AtomicInteger();
		RailKeeper.each(List.of(Failure.values()), (failure) -> {
			done.incrementAndGet();
			failure.fire();
		});
		assertThat(done).hasValue(Failure.values().length);
	}

	/** A timer that fails to schedule a task once. */
	private static final class FailingTimer extends ScheduledThreadPoolExecutor {

		final AtomicInteger schedulings = new AtomicInteger();

		private final Failure failure;

		private final int failing;

		FailingTimer(Failure failure, int failing) {
			super(1);
			this.failure = failure;
			this.failing = failing;
		}

		@Override
		public ScheduledFuture<?> schedule(Runnable task, long delay, TimeUnit unit) {
			if (this.schedulings.incrementAndGet() == this.failing) {
				this.failure.fire();
			}
			return super.schedule(task, delay, unit);
		}

	}

	/** One that does not end what it has on the rail. */
	private static final class FailingUser implements RailUser {

		final AtomicInteger lost = new AtomicInteger();

		final AtomicInteger returned = new AtomicInteger();

		private final Failure failure;

		FailingUser(Failure failure) {
			this.failure = failure;
		}

		@Override
		public void lost(Rail rail) {
			this.lost.incrementAndGet();
			this.failure.fire();
		}

		@Override
		public boolean tryReturn(Rail rail) {
			this.returned.incrementAndGet();
			return true;
		}

	}

}
