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
import java.util.concurrent.Flow;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiConsumer;
import java.util.function.Function;

/** Takes streams in ways that the test controls. */
final class IntakeService implements Intake {

	/** What {@link #handle} does. */
	volatile Function<Flow.Publisher<Feed.Item>, CompletableFuture<String>> handler = (items) -> CompletableFuture
		.failedFuture(new IllegalStateException("no handler"));

	/** What {@link #convert} does. */
	volatile Function<Flow.Publisher<Feed.Item>, Flow.Publisher<Feed.Item>> converter = (items) -> items;

	final AtomicInteger blocks = new AtomicInteger();

	@Override
	public long sum(Flow.Publisher<Long> numbers) {
		return reduce(numbers, 0L, (sum, number) -> sum[0] = (long) sum[0] + number).join();
	}

	@Override
	public CompletableFuture<String> join(String before, Flow.Publisher<Feed.Item> items, String after) {
		return reduce(items, before, (text, item) -> text[0] = text[0] + item.text()).thenApply((text) -> text + after);
	}

	@Override
	public CompletableFuture<Long> weigh(Flow.Publisher<byte[]> all) {
		return reduce(all, 0L, (sum, block) -> {
			int number = this.blocks.getAndIncrement();
			for (byte value : block) {
				if (value != (byte) number) {
					throw new IllegalStateException("block " + number + " contains " + value);
				}
			}
			sum[0] = (long) sum[0] + block.length;
		});
	}

	@Override
	public CompletableFuture<String> handle(Flow.Publisher<Feed.Item> items) {
		return this.handler.apply(items);
	}

	@Override
	public Flow.Publisher<Feed.Item> relabel(Flow.Publisher<Feed.Item> items, String label) {
		return (subscriber) -> items.subscribe(new Flow.Subscriber<>() {

			@Override
			public void onSubscribe(Flow.Subscription subscription) {
				subscriber.onSubscribe(subscription);
			}

			@Override
			public void onNext(Feed.Item item) {
				subscriber.onNext(new Feed.Item(item.number(), label));
			}

			@Override
			public void onError(Throwable failure) {
				subscriber.onError(failure);
			}

			@Override
			public void onComplete() {
				subscriber.onComplete();
			}

		});
	}

	@Override
	public Flow.Publisher<Feed.Item> convert(Flow.Publisher<Feed.Item> items) {
		return this.converter.apply(items);
	}

	@Override
	public String unary(String text) {
		return text;
	}

	/** Takes all messages, unless one of them is not accepted. */
	@SuppressWarnings("unchecked") // the first element is of that type
	static <T, R> CompletableFuture<R> reduce(Flow.Publisher<T> all, R first, BiConsumer<Object[], T> step) {
		CompletableFuture<R> result = new CompletableFuture<>();
		Object[] state = { first };
		all.subscribe(new Flow.Subscriber<>() {

			@Override
			public void onSubscribe(Flow.Subscription subscription) {
				subscription.request(Long.MAX_VALUE);
			}

			@Override
			public void onNext(T item) {
				step.accept(state, item);
			}

			@Override
			public void onError(Throwable failure) {
				result.completeExceptionally(failure);
			}

			@Override
			public void onComplete() {
				result.complete((R) state[0]);
			}

		});
		return result;
	}

}
