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

import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;

import org.jspecify.annotations.Nullable;
import org.reactivestreams.FlowAdapters;
import org.reactivestreams.Publisher;
import reactor.core.Exceptions;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.util.context.ContextView;

/**
 * What calls give to Reactor and take from it. The class is loaded when an interface
 * names one of Reactor's types, so Reactor need not be there otherwise.
 *
 * <p>
 * The call that is being served is in the context of what a handler returns, under
 * {@link RpcContext}. A call that is made in such a context inherits its deadline on
 * whatever thread it is subscribed to. Without one, it inherits the deadline of the call
 * that the subscribing thread serves, or else of the one that was served where the method
 * was called. While a call is made, its thread also has what else the context holds for
 * threads, such as the observation that is to be the parent of the call's.
 */
final class ReactorForms {

	private ReactorForms() {
	}

	/**
	 * A {@code Mono} that makes a call for each subscriber.
	 * @param call makes the call
	 * @param holdsMemory whether results may hold the memory they were received in
	 */
	static Object mono(Supplier<? extends CompletableFuture<?>> call, boolean holdsMemory) {
		RpcContext around = RpcContext.current();
		return Mono.deferContextual((context) -> {
			ServedCall outer = ServedCall.current(served(context, around));
			try {
				return within(context, () -> new ReplyMono(call.get(), holdsMemory));
			}
			finally {
				ServedCall.current(outer);
			}
		});
	}

	/** A {@code Flux} of the messages, which begin with its subscription. */
	@SuppressWarnings("unchecked") // whatever is published
	static Object flux(Flow.Publisher<?> messages) {
		RpcContext around = RpcContext.current();
		Publisher<Object> source = FlowAdapters.toPublisher((Flow.Publisher<Object>) messages);
		return Flux.deferContextual((context) -> {
			ServedCall served = served(context, around);
			return Flux.from((subscriber) -> {
				ServedCall outer = ServedCall.current(served);
				try {
					within(context, () -> {
						source.subscribe(subscriber);
						return subscriber;
					});
				}
				finally {
					ServedCall.current(outer);
				}
			});
		});
	}

	/** What publishes the messages of a {@code Flux}. */
	static Flow.Publisher<?> published(Object flux) {
		RpcContext served = RpcContext.current();
		Flux<?> source = (Flux<?>) flux;
		return FlowAdapters.toFlowPublisher(
				(served != null) ? source.contextWrite((context) -> context.put(RpcContext.class, served)) : source);
	}

	/** A {@code Flux} whose messages another publishes; it keeps the context. */
	static Object changed(Object flux, UnaryOperator<Flow.Publisher<?>> change) {
		Flux<?> source = (Flux<?>) flux;
		return Flux.deferContextual((context) -> FlowAdapters
			.toPublisher(change.apply(FlowAdapters.toFlowPublisher(source.contextWrite(context)))));
	}

	/** Subscribes to the {@code Mono} of a handler. */
	static CompletionStage<?> stage(Object mono) {
		RpcContext served = RpcContext.current();
		Mono<?> source = (Mono<?>) mono;
		return ((served != null) ? source.contextWrite((context) -> context.put(RpcContext.class, served)) : source)
			.toFuture();
	}

	/**
	 * Runs code while its thread has what the context holds for threads, such as the
	 * current observation: what {@code handle} does in any mode of Reactor's propagation,
	 * where Micrometer's is there.
	 */
	private static <T> T within(ContextView context, Supplier<T> code) {
		if (context.isEmpty()) {
			return code.get();
		}
		CompletableFuture<T> ran = new CompletableFuture<>();
		Mono.just(code).handle((supplier, sink) -> {
			try {
				ran.complete(supplier.get());
			}
			catch (Throwable ex) {
				ran.completeExceptionally(ex);
			}
		}).contextWrite(context).subscribe();
		if (!ran.isDone()) {
			return code.get(); // what the context holds could not be given to the thread
		}
		try {
			return ran.join();
		}
		catch (CompletionException ex) {
			throw Exceptions.propagate((ex.getCause() != null) ? ex.getCause() : ex);
		}
	}

	private static @Nullable ServedCall served(ContextView context, @Nullable RpcContext around) {
		RpcContext known = context.<@Nullable RpcContext>getOrDefault(RpcContext.class, null);
		ServedCall current = ServedCall.current();
		if (known == null && (current != null || around == null)) {
			return current;
		}
		return new Remembered((known != null) ? known : Objects.requireNonNull(around));
	}

	/** A call that is being served, or was. */
	private record Remembered(RpcContext context) implements ServedCall {

		@Override
		public long deadlineNanos() {
			return this.context.deadlineNanos();
		}

	}

}
