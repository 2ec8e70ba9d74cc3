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

import java.io.IOException;
import java.util.Objects;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.locks.LockSupport;

import org.jspecify.annotations.Nullable;

/**
 * A service whose handlers do what users' code may do, as a seed has it: compute, block,
 * call the next server, wait for it or go on when it has answered, and throw.
 */
final class RandomWorker implements RandomWork {

	private static final int MOST_COMPUTED_NANOS = 200_000;

	private static final int MOST_BLOCKED_NANOS = 4_000_000;

	private static final int MOST_HELD_UP_NANOS = 60_000_000;

	private final Executor helpers;

	/** What was answered wrongly. */
	final Queue<String> wrong = new ConcurrentLinkedQueue<>();

	private volatile @Nullable RandomWork next;

	RandomWorker(Executor helpers) {
		this.helpers = helpers;
	}

	void next(RandomWork server) {
		this.next = server;
	}

	@Override
	public String echo(String text) {
		return text;
	}

	@Override
	public String plain(String text) {
		return text;
	}

	@Override
	public int inline(Order order) {
		return work(order, new Random(order.seed()));
	}

	@Override
	public int anywhere(Order order) {
		return work(order, new Random(order.seed()));
	}

	@Override
	public CompletableFuture<Integer> laterInline(Order order) {
		return later(order);
	}

	@Override
	public CompletableFuture<Integer> later(Order order) {
		Random random = new Random(order.seed());
		int way = random.nextInt((order.depth() > 0) ? 4 : 2);
		return switch (way) {
			case 0 -> CompletableFuture.completedFuture(work(order, random));
			case 1 -> CompletableFuture.supplyAsync(() -> work(order, random), this.helpers);
			case 2 -> callLater(order, random).thenApply((done) -> work(order.withoutCalls(), random));
			default -> callLater(order, random).thenCompose((done) -> callLater(order, random))
				.thenApply((done) -> work(order, random));
		};
	}

	private int work(Order order, Random random) {
		act(random);
		if (order.depth() > 0 && random.nextBoolean()) {
			if (random.nextBoolean()) {
				callLater(order, random).join();
			}
			else {
				call(order, random);
			}
			act(random);
		}
		if (random.nextInt(20) == 0) {
			fire(random);
		}
		return order.value();
	}

	/** Makes a blocking call of the next server. */
	void call(Order order, Random random) {
		RandomWork server = Objects.requireNonNull(this.next);
		Order inner = order.inner(random);
		check(inner, random.nextBoolean() ? server.inline(inner) : server.anywhere(inner));
	}

	/** Makes a call of the next server. */
	CompletableFuture<Integer> callLater(Order order, Random random) {
		RandomWork server = Objects.requireNonNull(this.next);
		Order inner = order.inner(random);
		return (random.nextBoolean() ? server.later(inner) : server.laterInline(inner))
			.thenApply((value) -> check(inner, value));
	}

	int check(Order order, int value) {
		if (value != order.value()) {
			this.wrong.add(order + " was answered with " + value);
		}
		return value;
	}

	/** Takes its time. */
	static void act(Random random) {
		switch (random.nextInt(8)) {
			case 0, 1 -> compute(random.nextInt(MOST_COMPUTED_NANOS));
			case 2 -> LockSupport.parkNanos(random.nextInt(MOST_BLOCKED_NANOS));
			case 3 -> {
				if (random.nextInt(10) == 0) {
					LockSupport.parkNanos(random.nextInt(MOST_HELD_UP_NANOS));
				}
			}
			default -> {
				// at once
			}
		}
	}

	private static void compute(long nanos) {
		long begin = System.nanoTime();
		while (System.nanoTime() - begin < nanos) {
			Thread.onSpinWait();
		}
	}

	/** Throws whatever can be thrown. */
	static void fire(Random random) {
		switch (random.nextInt(5)) {
			case 0 -> throw new RpcException(RpcStatus.NOT_FOUND, "thrown by the test");
			case 1 -> throw new IllegalStateException("thrown by the test");
			case 2 -> throw new StackOverflowError("thrown by the test");
			case 3 -> throw new OutOfMemoryError("thrown by the test");
			default -> RandomWorker.<RuntimeException>throwAny(new IOException("thrown by the test"));
		}
	}

	@SuppressWarnings("unchecked")
	private static <T extends Throwable> void throwAny(Throwable failure) throws T {
		throw (T) failure;
	}

}
