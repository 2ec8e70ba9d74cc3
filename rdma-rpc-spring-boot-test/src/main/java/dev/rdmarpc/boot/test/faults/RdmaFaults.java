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

package dev.rdmarpc.boot.test.faults;

import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Predicate;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

/**
 * The faults of the connections that an application under test makes: what a test
 * arranges happens at once, also on connections that there are. Faults are those of a
 * target, the name by which clients are injected, and concern the side that connects.
 *
 * <p>
 * A <em>message</em> is what arrives with one receive: a reply, but also an answer in the
 * handshake of a new connection, or credits. Connections are reliable, so that no message
 * is lost, doubled or overtaken as long as its connection lives.
 *
 * <p>
 * What is random follows from {@link #seed()} and from the order in which messages
 * arrive; it begins anew with each test. A test that fails with faults tells the seed,
 * which the property {@value #SEED_PROPERTY} sets.
 *
 * <p>
 * A test that names a target of which the application has no client fails, since what it
 * arranges there has no effect.
 *
 * <p>
 * Thread-safe. Faults are those of all connections of an application: tests that share a
 * context and run at the same time cannot use them, which is refused.
 */
public final class RdmaFaults {

	/** The property with the seed. */
	public static final String SEED_PROPERTY = "rdma.test.faults.seed";

	private static final String ALONE = "two tests that share a context run at the same time, and one of them uses "
			+ "RdmaFaults (expected: one after the other, for example by @Execution(SAME_THREAD) and "
			+ "@ResourceLock, or a context of its own)";

	private final long seed;

	/** How many tests have begun and not ended. */
	private int running;

	private final Supplier<Set<String>> clients;

	private final Map<String, TargetFaults> targets = new ConcurrentHashMap<>();

	private final Set<Runnable> sleepers = ConcurrentHashMap.newKeySet();

	/**
	 * Creates faults before any test.
	 * @param clients the targets of which the application has clients
	 */
	RdmaFaults(long seed, Supplier<Set<String>> clients) {
		this.seed = seed;
		this.clients = clients;
	}

	/** What everything random follows from. */
	public long seed() {
		return this.seed;
	}

	/**
	 * Has messages from a target arrive later than they would, in their order.
	 * @throws IllegalArgumentException if the delay is negative
	 */
	public void delay(String target, Duration delay) {
		delay(target, delay, delay);
	}

	/**
	 * Has each message from a target arrive later than it would, by a random time, but
	 * not before the one before it.
	 * @param least the shortest delay
	 * @param most the longest delay
	 * @throws IllegalArgumentException if one is negative, or the longest shorter than
	 * the shortest
	 */
	public void delay(String target, Duration least, Duration most) {
		if (least.isNegative() || most.compareTo(least) < 0) {
			throw new IllegalArgumentException(
					"delay of " + least + " to " + most + " (expected: not negative, and the longer one last)");
		}
		named(target).delay(least.toNanos(), most.toNanos());
	}

	/**
	 * Lets nothing arrive from a target, whose connections stay. It arrives when the
	 * fault is cleared, unless the connection has ended meanwhile.
	 */
	public void stall(String target) {
		named(target).stall();
	}

	/** Cuts the connections to a target that there are. Others can be made. */
	public void cut(String target) {
		named(target).cut("now");
	}

	/**
	 * Cuts one connection to a target when that many messages have arrived from it, on
	 * whatever connection: the next message is lost with its connection. Others can be
	 * made.
	 * @param messages how many still arrive
	 * @throws IllegalArgumentException if it is negative
	 */
	public void cutAfter(String target, int messages) {
		if (messages < 0) {
			throw new IllegalArgumentException("cut after " + messages + " messages (expected: at least 0)");
		}
		named(target).cutAfter(messages);
	}

	/**
	 * Cuts a connection to a target at random, by which its message is lost, too.
	 * @param probability for each message, 0 to 1
	 * @throws IllegalArgumentException if it is none
	 */
	public void cutRandomly(String target, double probability) {
		if (!(probability >= 0 && probability <= 1)) {
			throw new IllegalArgumentException("probability " + probability + " (expected: 0 to 1)");
		}
		named(target).cutRandomly(probability);
	}

	/** Refuses new connections to a target. Those that there are stay. */
	public void refuse(String target) {
		named(target).refuse();
	}

	/** How many connections to a target have been cut in this test. */
	public int cuts(String target) {
		return named(target).cuts();
	}

	/** How many connections to a target have been refused in this test. */
	public int refusals(String target) {
		return named(target).refusals();
	}

	/** Ends the faults of a target: what was held back arrives. */
	public void clear(String target) {
		of(target).clear();
	}

	/** Ends all faults: what was held back arrives. */
	public void clear() {
		this.targets.values().forEach(TargetFaults::clear);
	}

	/**
	 * A test begins.
	 * @throws IllegalStateException if another one has not ended and has arranged
	 * something
	 */
	synchronized void begin() {
		boolean alone = this.running++ == 0;
		if (!alone && isUsed()) {
			throw new IllegalStateException(ALONE);
		}
		if (alone) {
			this.targets.values().forEach((faults) -> faults.begin(this.seed));
		}
	}

	/** A test has ended; the last one of those that run ends all faults. */
	synchronized void end() {
		this.running = Math.max(0, this.running - 1);
		if (this.running == 0) {
			this.targets.values().forEach((faults) -> faults.begin(this.seed));
		}
	}

	/** Whether the test has arranged anything. */
	boolean isUsed() {
		return this.targets.values().stream().anyMatch(TargetFaults::isUsed);
	}

	/** Whether no more than one test runs. */
	private synchronized boolean isAlone() {
		return this.running <= 1;
	}

	private TargetFaults named(String target) {
		if (!isAlone()) {
			throw new IllegalStateException(ALONE);
		}
		TargetFaults faults = of(target);
		faults.name();
		return faults;
	}

	/**
	 * What is wrong with the targets that the test has named, or {@code null}: faults of
	 * one of which the application has no client have done nothing.
	 */
	@Nullable String mistake() {
		Set<String> known = new TreeSet<>(this.clients.get());
		known.addAll(names(TargetFaults::isKnown));
		Set<String> vain = names(TargetFaults::isNamed);
		vain.removeAll(known);
		return (vain.isEmpty() || !isAlone()) ? null : "the test has named the targets " + vain
				+ ", of which this application has no client (expected: " + known + ")";
	}

	private Set<String> names(Predicate<TargetFaults> which) {
		Set<String> names = new TreeSet<>();
		this.targets.forEach((name, faults) -> {
			if (which.test(faults)) {
				names.add(name);
			}
		});
		return names;
	}

	/**
	 * Returns the faults of a connection's target.
	 * @param target may be followed by one of its addresses in parentheses
	 */
	TargetFaults of(String target) {
		int end = target.indexOf(" (");
		String name = (end < 0) ? target : target.substring(0, end);
		return this.targets.computeIfAbsent(name, (key) -> new TargetFaults(key, this.seed, this::changed));
	}

	/** Whoever waits for messages is told when what holds them back changes. */
	void addSleeper(Runnable wakeUp) {
		this.sleepers.add(wakeUp);
	}

	void removeSleeper(Runnable wakeUp) {
		this.sleepers.remove(wakeUp);
	}

	private void changed() {
		this.sleepers.forEach(Runnable::run);
	}

	@Override
	public String toString() {
		Map<String, TargetFaults> used = new TreeMap<>();
		this.targets.forEach((name, faults) -> {
			if (faults.isUsed()) {
				used.put(name, faults);
			}
		});
		return "faults with " + SEED_PROPERTY + "=" + this.seed + ": " + used;
	}

}
