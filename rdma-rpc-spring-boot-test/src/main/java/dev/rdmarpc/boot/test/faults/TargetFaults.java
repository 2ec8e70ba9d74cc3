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

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The faults of one target.
 *
 * <p>
 * Thread-safe. State is guarded by {@code this}; connections are cut, and waiting threads
 * told, after it is released.
 */
final class TargetFaults {

	private static final int NEVER = -1;

	private final String target;

	private final Runnable onChange;

	private final Set<FaultQueuePair> connections = ConcurrentHashMap.newKeySet();

	private Random random;

	private long leastNanos;

	private long mostNanos;

	private volatile boolean stalled;

	private int messagesLeft = NEVER;

	private double cutProbability;

	private boolean refusing;

	/** Grows when what was held back is let go. */
	private volatile int epoch;

	private int cuts;

	private int refusals;

	private final List<String> arranged = new ArrayList<>();

	/** Whether the test has named it, be it in a question. */
	private boolean named;

	/** Whether the application has ever tried to connect to it. */
	private boolean known;

	TargetFaults(String target, long seed, Runnable onChange) {
		this.target = target;
		this.onChange = onChange;
		this.random = random(seed);
	}

	private Random random(long seed) {
		return new Random(seed ^ this.target.hashCode());
	}

	/** What another test has left ends, too. */
	void begin(long seed) {
		clear();
		restart(seed);
	}

	private synchronized void restart(long seed) {
		this.named = false;
		this.random = random(seed);
		this.cuts = 0;
		this.refusals = 0;
		this.arranged.clear();
	}

	synchronized boolean isUsed() {
		return !this.arranged.isEmpty();
	}

	synchronized void name() {
		this.named = true;
	}

	/** Whether the test has named it. */
	synchronized boolean isNamed() {
		return this.named;
	}

	/** Whether the application has ever tried to connect to it. */
	synchronized boolean isKnown() {
		return this.known;
	}

	synchronized void delay(long least, long most) {
		this.leastNanos = least;
		this.mostNanos = most;
		this.arranged.add("delay " + least / 1_000 + " to " + most / 1_000 + " us");
	}

	synchronized void stall() {
		this.stalled = true;
		this.arranged.add("stall");
	}

	synchronized void cutAfter(int messages) {
		this.messagesLeft = messages;
		this.arranged.add("cut after " + messages);
	}

	synchronized void cutRandomly(double probability) {
		this.cutProbability = probability;
		this.arranged.add("cut with probability " + probability);
	}

	synchronized void refuse() {
		this.refusing = true;
		this.arranged.add("refuse");
	}

	void cut(String when) {
		synchronized (this) {
			this.arranged.add("cut " + when);
		}
		this.connections.forEach(FaultQueuePair::cut);
		this.onChange.run();
	}

	void clear() {
		synchronized (this) {
			this.leastNanos = 0;
			this.mostNanos = 0;
			this.stalled = false;
			this.messagesLeft = NEVER;
			this.cutProbability = 0;
			this.refusing = false;
			this.epoch++;
		}
		this.onChange.run();
	}

	synchronized int cuts() {
		return this.cuts;
	}

	synchronized int refusals() {
		return this.refusals;
	}

	/** A connection was cut. */
	synchronized void counted() {
		this.cuts++;
	}

	/** Whether a new connection is refused, which is counted. */
	synchronized boolean refuses() {
		this.known = true;
		if (this.refusing) {
			this.refusals++;
		}
		return this.refusing;
	}

	/** Whether the message that arrives is lost with its connection. */
	synchronized boolean loses() {
		if (this.messagesLeft >= 0 && this.messagesLeft-- == 0) {
			return true;
		}
		return this.cutProbability > 0 && this.random.nextDouble() < this.cutProbability;
	}

	/** How much later what arrives is to arrive. */
	synchronized long delayNanos() {
		long spread = this.mostNanos - this.leastNanos;
		return this.leastNanos + ((spread > 0) ? (long) (this.random.nextDouble() * spread) : 0);
	}

	boolean isStalled() {
		return this.stalled;
	}

	int epoch() {
		return this.epoch;
	}

	void add(FaultQueuePair connection) {
		this.connections.add(connection);
	}

	void remove(FaultQueuePair connection) {
		this.connections.remove(connection);
	}

	@Override
	public synchronized String toString() {
		return this.arranged + " (" + this.cuts + " cut, " + this.refusals + " refused)";
	}

}
