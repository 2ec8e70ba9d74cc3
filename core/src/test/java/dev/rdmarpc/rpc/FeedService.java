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

import java.util.Arrays;
import java.util.Objects;
import java.util.concurrent.Flow;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntFunction;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.memory.RegisteredBuffer;

/** Serves streams that the test controls. */
final class FeedService implements Feed {

	/** What {@link #items} returns. */
	volatile Flow.Publisher<Item> publisher = (subscriber) -> {
		throw new IllegalStateException("no publisher");
	};

	/** What {@link #letters} publishes. */
	volatile @Nullable RegisteredBuffer letter;

	final AtomicInteger cancelled = new AtomicInteger();

	/** How often {@link #blocks} was called. */
	final AtomicInteger begun = new AtomicInteger();

	@Override
	public Flow.Publisher<Long> count(long many) {
		return new Numbers<>(many, (number) -> (long) number, this.cancelled::incrementAndGet);
	}

	@Override
	public Flow.Publisher<byte[]> blocks(int many, int[] bytes) {
		this.begun.incrementAndGet();
		return new Numbers<>(many, (number) -> block(number, bytes[number % bytes.length]),
				this.cancelled::incrementAndGet);
	}

	/** What {@link #blocks} publishes. */
	static byte[] block(int number, int bytes) {
		byte[] block = new byte[bytes];
		Arrays.fill(block, (byte) number);
		return block;
	}

	@Override
	public Flow.Publisher<Item> items(String name) {
		return this.publisher;
	}

	@Override
	public Flow.Publisher<Item> relabel(Flow.Publisher<Item> items) {
		return new IntakeService().relabel(items, "other");
	}

	@Override
	public Flow.Publisher<RegisteredBuffer> letters(int many) {
		RegisteredBuffer published = Objects.requireNonNull(this.letter);
		return new Numbers<>(many, (number) -> published, this.cancelled::incrementAndGet);
	}

	@Override
	public String unary(String text) {
		return text;
	}

	/**
	 * Publishes what numbers are mapped to, in the thread that requests.
	 *
	 * @param <T> what is published
	 */
	static final class Numbers<T> implements Flow.Publisher<T> {

		private final long many;

		private final IntFunction<T> mapping;

		private final Runnable onCancel;

		Numbers(long many, IntFunction<T> mapping, Runnable onCancel) {
			this.many = many;
			this.mapping = mapping;
			this.onCancel = onCancel;
		}

		@Override
		public void subscribe(Flow.Subscriber<? super T> subscriber) {
			subscriber.onSubscribe(new Flow.Subscription() {

				private long next;

				private long requested;

				private boolean running;

				private boolean cancelled;

				@Override
				public void request(long n) {
					this.requested = Math.addExact(this.requested, n);
					if (this.running) {
						return;
					}
					this.running = true;
					while (this.requested > 0 && !this.cancelled && this.next < Numbers.this.many) {
						this.requested--;
						subscriber.onNext(Numbers.this.mapping.apply((int) this.next++));
					}
					if (this.next == Numbers.this.many && !this.cancelled) {
						this.cancelled = true;
						subscriber.onComplete();
					}
					this.running = false;
				}

				@Override
				public void cancel() {
					this.cancelled = true;
					Numbers.this.onCancel.run();
				}

			});
		}

	}

}
