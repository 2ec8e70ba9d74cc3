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

import java.util.concurrent.Flow;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

import dev.rdmarpc.logging.RateLimitedLogger;

/**
 * What belonged to the thread that made or served a call, for other threads that run
 * users' code of that call. Thread-safe.
 */
final class CarriedContext {

	private static final Logger logger = LoggerFactory.getLogger(CarriedContext.class);

	private static final RateLimitedLogger failures = new RateLimitedLogger(logger);

	private static final ContextPropagation.Scope NONE = () -> {
	};

	private final ContextPropagation.Captured captured;

	private CarriedContext(ContextPropagation.Captured captured) {
		this.captured = captured;
	}

	/** That of the current thread, or {@code null} if none is to be carried. */
	static @Nullable CarriedContext capture(@Nullable ContextPropagation propagation) {
		if (propagation == null) {
			return null;
		}
		try {
			return new CarriedContext(propagation.capture());
		}
		catch (Throwable ex) {
			log(ex);
			return null;
		}
	}

	/** Restores it on the current thread, until that is closed; does not throw. */
	ContextPropagation.Scope open() {
		ContextPropagation.Scope scope;
		try {
			scope = this.captured.restore();
		}
		catch (Throwable ex) {
			log(ex);
			return NONE;
		}
		return () -> {
			try {
				scope.close();
			}
			catch (Throwable ex) {
				log(ex);
			}
		};
	}

	/** Runs code with it. */
	void run(Runnable code) {
		ContextPropagation.Scope scope = open();
		try {
			code.run();
		}
		finally {
			scope.close();
		}
	}

	private static void log(Throwable failure) {
		try {
			failures.log(Level.WARN, "The context of a call is lost to code that runs on another thread", failure);
		}
		catch (Throwable ex) {
			// the call is more important than that it was not said
		}
	}

	/** Tells a subscriber everything with it. */
	<T> Flow.Subscriber<T> around(Flow.Subscriber<T> subscriber) {
		return new Subscriber<>(subscriber);
	}

	/** Asks a publisher, and ends its subscription, with it. */
	<T> Flow.Publisher<T> around(Flow.Publisher<T> publisher) {
		if (publisher instanceof IteratedMessages iterated) {
			iterated.carry(this);
			return publisher;
		}
		return (subscriber) -> run(() -> publisher.subscribe(new Requests<>(subscriber)));
	}

	/** A subscriber of this side's user. */
	private final class Subscriber<T> implements Flow.Subscriber<T> {

		private final Flow.Subscriber<T> told;

		Subscriber(Flow.Subscriber<T> told) {
			this.told = told;
		}

		@Override
		public void onSubscribe(Flow.Subscription subscription) {
			run(() -> this.told.onSubscribe(subscription));
		}

		@Override
		public void onNext(T item) {
			ContextPropagation.Scope scope = open();
			try {
				this.told.onNext(item);
			}
			finally {
				scope.close();
			}
		}

		@Override
		public void onError(Throwable failure) {
			run(() -> this.told.onError(failure));
		}

		@Override
		public void onComplete() {
			run(this.told::onComplete);
		}

	}

	/** Subscribes to a publisher of this side's user. */
	private final class Requests<T> implements Flow.Subscriber<T> {

		private final Flow.Subscriber<? super T> told;

		Requests(Flow.Subscriber<? super T> told) {
			this.told = told;
		}

		@Override
		public void onSubscribe(Flow.Subscription subscription) {
			this.told.onSubscribe(new Flow.Subscription() {

				@Override
				public void request(long messages) {
					run(() -> subscription.request(messages));
				}

				@Override
				public void cancel() {
					run(subscription::cancel);
				}

			});
		}

		@Override
		public void onNext(T item) {
			this.told.onNext(item);
		}

		@Override
		public void onError(Throwable failure) {
			this.told.onError(failure);
		}

		@Override
		public void onComplete() {
			this.told.onComplete();
		}

	}

}
