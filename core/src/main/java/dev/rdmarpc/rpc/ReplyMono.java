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
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BiConsumer;

import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Operators;

/**
 * The reply to a call that was made for one subscriber, which cancels it. Its result
 * completes the {@code Mono}, empty if it is null.
 *
 * <p>
 * Implementation notes. Reactor's {@code Mono} of a future would lose a result that comes
 * when the subscriber has canceled, with the received memory that it may hold. Whoever
 * sets {@code over} decides whether the subscriber gets the result.
 */
final class ReplyMono extends Mono<Object> {

	private final CompletableFuture<?> call;

	private final boolean holdsMemory;

	/**
	 * Creates the {@code Mono}.
	 * @param holdsMemory whether the result may hold the memory it was received in
	 */
	ReplyMono(CompletableFuture<?> call, boolean holdsMemory) {
		this.call = call;
		this.holdsMemory = holdsMemory;
	}

	@Override
	public void subscribe(CoreSubscriber<? super Object> actual) {
		actual.onSubscribe(new Reply(this.call, this.holdsMemory, actual));
	}

	/** The subscription. */
	private static final class Reply implements Subscription, BiConsumer<@Nullable Object, @Nullable Throwable> {

		private final CompletableFuture<?> call;

		private final boolean holdsMemory;

		private final CoreSubscriber<? super Object> actual;

		private final AtomicBoolean requested = new AtomicBoolean();

		private final AtomicBoolean over = new AtomicBoolean();

		Reply(CompletableFuture<?> call, boolean holdsMemory, CoreSubscriber<? super Object> actual) {
			this.call = call;
			this.holdsMemory = holdsMemory;
			this.actual = actual;
		}

		@Override
		public void request(long messages) {
			if (Operators.validate(messages)) {
				listen();
			}
		}

		private void listen() {
			if (this.requested.compareAndSet(false, true)) {
				this.call.whenComplete(this);
			}
		}

		@Override
		public void cancel() {
			if (this.over.compareAndSet(false, true)) {
				this.call.cancel(true);
				listen();
			}
		}

		@Override
		public void accept(@Nullable Object result, @Nullable Throwable failure) {
			if (!this.over.compareAndSet(false, true)) {
				if (result != null && this.holdsMemory) {
					HoldingTypes.release(result);
				}
			}
			else if (failure != null) {
				this.actual.onError(failure);
			}
			else {
				if (result != null) {
					this.actual.onNext(result);
				}
				this.actual.onComplete();
			}
		}

	}

}
