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
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

import dev.rdmarpc.transport.ChannelLoop;
import dev.rdmarpc.transport.Rail;
import dev.rdmarpc.transport.RdmaTransport;
import dev.rdmarpc.verbs.VerbsException;

/**
 * The loops that a client's queue pairs are spread over, on each rail that it uses, and
 * what is known on each of them of the client's continuations. Those of a rail are
 * created when a queue pair first needs them. Thread-safe.
 */
final class ClientLoops {

	private final RdmaTransport transport;

	private final RpcClientOptions options;

	private final List<Rail> rails;

	private final Map<Rail, AtomicInteger> next = new ConcurrentHashMap<>();

	/** Replaced, never changed. */
	private volatile List<Known> known = List.of();

	/**
	 * Creates the loops if there is only one rail that they can be on.
	 * @throws IllegalArgumentException if the transport has none of the rails asked for
	 */
	ClientLoops(RdmaTransport transport, RpcClientOptions options) {
		this.transport = transport;
		this.options = options;
		this.rails = options.rails().choose(transport, options.channel());
		if (this.rails.size() == 1 && this.rails.get(0).isRunning()) {
			use(this.rails.get(0));
		}
	}

	/** The rails of the client, in order of preference. */
	List<Rail> rails() {
		return this.rails;
	}

	/**
	 * The loop of another queue pair, if it uses a rail.
	 * @throws VerbsException if there is none yet and the transport is closed
	 */
	ChannelLoop next(Rail rail) {
		List<ChannelLoop> loops = use(rail);
		int number = this.next.computeIfAbsent(rail, (key) -> new AtomicInteger()).getAndIncrement();
		return loops.get(Math.floorMod(number, loops.size()));
	}

	private List<ChannelLoop> use(Rail rail) {
		List<ChannelLoop> loops = this.transport.sharedLoops(rail, this.options.channel().frameBytes(),
				this.options.queuePairs().loops());
		synchronized (this) {
			List<Known> more = new ArrayList<>(this.known);
			more.removeIf((any) -> any.loop().isClosed());
			loops.stream()
				.filter((loop) -> more.stream().noneMatch((any) -> any.loop() == loop))
				.forEach((loop) -> more.add(new Known(loop, new Continuations(this.transport))));
			this.known = List.copyOf(more);
		}
		return loops;
	}

	/**
	 * The loop for what belongs to none of the queue pairs.
	 * @throws VerbsException if there is none, and the transport is closed or no rail is
	 * up
	 */
	ChannelLoop any() {
		return anyKnown().loop();
	}

	private Known anyKnown() {
		List<Known> all = this.known;
		for (int i = 0; i < all.size(); i++) {
			if (!all.get(i).loop().isClosed()) {
				return all.get(i);
			}
		}
		Rail last = this.rails.get(this.rails.size() - 1);
		use(this.rails.stream().filter(Rail::isRunning).reduce((first, second) -> second).orElse(last));
		return this.known.get(0);
	}

	/** What is known on one of the loops, and only there. */
	Continuations continuations(ChannelLoop loop) {
		List<Known> all = this.known;
		for (int i = 0; i < all.size(); i++) {
			if (all.get(i).loop() == loop) {
				return all.get(i).continuations();
			}
		}
		return (all.isEmpty() ? anyKnown() : all.get(0)).continuations();
	}

	/**
	 * The time, or where users' code runs on the thread of one of the loops, that of a
	 * few tasks before: the clock takes as long as a thirtieth of a call. A thread that
	 * is held up is replaced, and does not take its time from the loop any more.
	 */
	long roughNanos() {
		List<Known> all = this.known;
		for (int i = 0; i < all.size(); i++) {
			long nanos = all.get(i).loop().roughNanos();
			if (nanos != 0) {
				return nanos;
			}
		}
		return System.nanoTime();
	}

	/** Runs users' code on none of the loops. */
	void runElsewhere(Runnable code) {
		this.transport.runCallback(code);
	}

	/** A loop of the client's, and what is known on it. */
	private record Known(ChannelLoop loop, Continuations continuations) {

	}

}
