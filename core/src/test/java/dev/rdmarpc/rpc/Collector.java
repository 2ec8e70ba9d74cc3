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
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Flow;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import org.jspecify.annotations.Nullable;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A subscriber that keeps what it gets, and notices when it is told something out of
 * turn.
 *
 * @param <T> what it gets
 */
class Collector<T> implements Flow.Subscriber<T> {

	final List<T> received = Collections.synchronizedList(new ArrayList<>());

	final CountDownLatch ended = new CountDownLatch(1);

	final CountDownLatch subscribed = new CountDownLatch(1);

	private final AtomicInteger telling = new AtomicInteger();

	private final List<String> wrong = new CopyOnWriteArrayList<>();

	private final long first;

	volatile Flow.@Nullable Subscription subscription;

	volatile @Nullable Throwable failure;

	volatile boolean complete;

	/**
	 * Creates a subscriber.
	 * @param first what it requests at once; 0 for nothing
	 */
	Collector(long first) {
		this.first = first;
	}

	static <T> Collector<T> of(Flow.Publisher<T> publisher, long first) {
		Collector<T> collector = new Collector<>(first);
		publisher.subscribe(collector);
		return collector;
	}

	@Override
	public void onSubscribe(Flow.Subscription given) {
		this.subscription = given;
		this.subscribed.countDown();
		if (this.first > 0) {
			given.request(this.first);
		}
	}

	@Override
	public void onNext(T item) {
		enter("onNext");
		this.received.add(item);
		this.telling.decrementAndGet();
	}

	@Override
	public void onError(Throwable why) {
		enter("onError");
		this.failure = why;
		this.ended.countDown();
		this.telling.decrementAndGet();
	}

	@Override
	public void onComplete() {
		enter("onComplete");
		this.complete = true;
		this.ended.countDown();
		this.telling.decrementAndGet();
	}

	private void enter(String what) {
		if (this.telling.getAndIncrement() > 0 || this.ended.getCount() == 0) {
			this.wrong.add(what);
		}
	}

	void request(long n) {
		Flow.Subscription given = this.subscription;
		assertThat(given).isNotNull();
		given.request(n);
	}

	void cancel() {
		Flow.Subscription given = this.subscription;
		assertThat(given).isNotNull();
		given.cancel();
	}

	/** Waits for the end, which must be the one of a complete stream. */
	List<T> complete() throws InterruptedException {
		awaitEnd();
		assertThat(this.failure).isNull();
		assertThat(this.complete).isTrue();
		return this.received;
	}

	/** Waits for the end, which must be a failure. */
	RpcException failure() throws InterruptedException {
		awaitEnd();
		assertThat(this.failure).isInstanceOf(RpcException.class);
		return (RpcException) this.failure;
	}

	void awaitReceived(int count) {
		RpcFixture.awaitTrue(() -> this.received.size() >= count || this.ended.getCount() == 0);
		assertThat(this.received).hasSizeGreaterThanOrEqualTo(count);
	}

	private void awaitEnd() throws InterruptedException {
		assertThat(this.ended.await(30, TimeUnit.SECONDS))
			.as("the stream ends, after %d messages", this.received.size())
			.isTrue();
		assertThat(this.wrong).as("told out of turn").isEmpty();
	}

}
