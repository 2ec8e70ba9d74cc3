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

package dev.rdmarpc.boot.observation;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;

import io.micrometer.core.instrument.LongTaskTimer;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.observation.DefaultMeterObservationHandler;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import dev.rdmarpc.boot.Greeter;
import dev.rdmarpc.boot.observation.CallMeters.MethodMeters;
import dev.rdmarpc.flatbuffers.FlatBuffersCodec;
import dev.rdmarpc.rpc.CallObservation;
import dev.rdmarpc.rpc.MethodDescriptor;
import dev.rdmarpc.rpc.RpcStatus;
import dev.rdmarpc.rpc.ServiceDescriptor;

import static org.assertj.core.api.Assertions.assertThat;

/** Calls in progress and their timers, whoever ends them. */
@Timeout(value = 180, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class RdmaCallMetersTests {

	private static final String NAME = "calls";

	private final MeterRegistry registry = new SimpleMeterRegistry();

	private final RdmaCallMeters meters = new RdmaCallMeters(new DefaultMeterObservationHandler(this.registry),
			this.registry, true);

	@AfterEach
	void close() {
		this.meters.close();
	}

	@Test
	void moreCallsThanSlotsAreAllActiveUntilTheyEnd() {
		long seed = System.nanoTime();
		MethodMeters method = this.meters.of(NAME, method());
		List<CallObservation> calls = new ArrayList<>();
		for (int i = 0; i < 1000; i++) {
			calls.add(method.callStarted());
		}
		LongTaskTimer active = active();
		await(() -> active.activeTasks() == 1000);
		Collections.shuffle(calls, new Random(seed));
		for (int ended = 1; ended <= 1000; ended++) {
			calls.get(ended - 1).callEnded(RpcStatus.OK, null);
			// of a call that is just being entered it is noticed a moment later
			int left = 1000 - ended;
			await(() -> active.activeTasks() == left, "seed " + seed);
		}
		assertThat(this.registry.get(NAME).timer().count()).isEqualTo(1000);
	}

	@Test
	void anyNumberOfProxiesShareTheirMeters() {
		MethodMeters first = this.meters.of(NAME, method());
		assertThat(this.meters.of(NAME, method())).isSameAs(first);
		assertThat(this.meters.of("others", method())).isNotSameAs(first);
		this.registry.counter("other");
		this.registry.remove(this.registry.counter("other"));
		assertThat(this.meters.removals()).isOne();
		assertThat(this.meters.of(NAME, method())).isNotSameAs(first);
	}

	@Test
	void callsInProgressStayActiveWhenMetersAreLookedUpAgain() {
		CallObservation call = this.meters.of(NAME, method()).callStarted();
		this.registry.remove(this.registry.counter("other"));
		CallObservation later = this.meters.of(NAME, method()).callStarted();
		await(() -> active().activeTasks() == 2);
		call.callEnded(RpcStatus.OK, null);
		later.callEnded(RpcStatus.OK, null);
		await(() -> active().activeTasks() == 0);
	}

	/**
	 * Calls end in other threads than they begin in, while they are entered all the time.
	 */
	@Test
	void nothingIsActiveAfterCallsThatEndWhileTheyAreEntered() throws Exception {
		int each = 20_000;
		ActiveCalls calls = new ActiveCalls(LongTaskTimer.builder("busy").register(this.registry));
		BlockingQueue<ActiveCalls.Call> begun = new ArrayBlockingQueue<>(300);
		AtomicBoolean done = new AtomicBoolean();
		List<Thread> callers = new ArrayList<>();
		for (int i = 0; i < 2; i++) {
			callers.add(started(each, () -> {
				ActiveCalls.Call call = new ActiveCalls.Call() {
				};
				calls.begin(call);
				begun.put(call);
			}));
			callers.add(started(each, () -> calls.end(begun.take())));
		}
		Thread entering = started(1, () -> {
			while (!done.get()) {
				calls.enterAll();
				LockSupport.parkNanos(1000);
			}
		});
		for (Thread thread : callers) {
			thread.join();
		}
		done.set(true);
		entering.join();
		calls.enterAll();
		assertThat(this.registry.get("busy").longTaskTimer().activeTasks()).isZero();
	}

	@Test
	void closingEndsTheThread() {
		Set<Thread> others = ticking();
		RdmaCallMeters another = new RdmaCallMeters(new DefaultMeterObservationHandler(this.registry), this.registry,
				true);
		Set<Thread> own = ticking();
		own.removeAll(others);
		assertThat(own).hasSize(1);
		another.close();
		await(() -> own.stream().noneMatch(Thread::isAlive));
	}

	private static Set<Thread> ticking() {
		return Thread.getAllStackTraces()
			.keySet()
			.stream()
			.filter((thread) -> thread.getName().equals("rdma-rpc-active-calls"))
			.collect(Collectors.toSet());
	}

	private LongTaskTimer active() {
		return this.registry.get(NAME + ".active").longTaskTimer();
	}

	private static MethodDescriptor method() {
		return ServiceDescriptor.of(Greeter.class, new FlatBuffersCodec()).methods().get(0);
	}

	private static Thread started(int times, Step step) {
		Thread thread = new Thread(() -> {
			try {
				for (int i = 0; i < times; i++) {
					step.run();
				}
			}
			catch (InterruptedException ex) {
				Thread.currentThread().interrupt();
			}
		});
		thread.start();
		return thread;
	}

	private static void await(BooleanSupplier condition) {
		await(condition, "condition not met in time");
	}

	private static void await(BooleanSupplier condition, String what) {
		long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
		while (!condition.getAsBoolean()) {
			assertThat(System.nanoTime() - deadline).as(what).isNegative();
			LockSupport.parkNanos(100_000);
		}
	}

	@FunctionalInterface
	private interface Step {

		void run() throws InterruptedException;

	}

}
