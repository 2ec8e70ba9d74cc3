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
import java.util.Iterator;
import java.util.List;
import java.util.Spliterator;
import java.util.Spliterators;
import java.util.concurrent.Flow;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;

import org.jspecify.annotations.Nullable;

/**
 * Carries what belongs to the thread of a handler to those that ask the publisher, or
 * iterate the stream, that it has returned, and to those that tell its subscriber. Next
 * to the handler, so that it sees what other interceptors have set.
 */
final class CarryingInterceptor implements RpcServerInterceptor {

	private final ContextPropagation propagation;

	CarryingInterceptor(ContextPropagation propagation) {
		this.propagation = propagation;
	}

	@Override
	public boolean appliesTo(MethodDescriptor method) {
		return method.streaming() || method.consuming();
	}

	@Override
	public @Nullable Object intercept(RpcServerCall call) throws Throwable {
		List<@Nullable Object> arguments = new ArrayList<>(call.arguments());
		arguments
			.replaceAll((argument) -> (argument instanceof RequestMessages messages) ? subscribed(messages) : argument);
		Object result = call.withArguments(arguments).proceed();
		if (result == null) {
			return null;
		}
		CarriedContext context = CarriedContext.capture(this.propagation);
		return (context != null) ? carried(call.method(), result, context) : result;
	}

	/** What the handler subscribes to, on whatever thread. */
	private Flow.Publisher<Object> subscribed(Flow.Publisher<Object> messages) {
		return (subscriber) -> {
			CarriedContext context = CarriedContext.capture(this.propagation);
			messages.subscribe((context != null) ? context.around(subscriber) : subscriber);
		};
	}

	private static Object carried(MethodDescriptor method, Object result, CarriedContext context) {
		if (result instanceof Flow.Publisher<?> publisher) {
			return context.around(publisher);
		}
		if (result instanceof Stream<?> stream) {
			Iterator<?> iterator = new CarriedIterator<>(stream.iterator(), context);
			return StreamSupport.stream(Spliterators.spliteratorUnknownSize(iterator, Spliterator.ORDERED), false)
				.onClose(() -> context.run(stream::close));
		}
		if (result instanceof Iterator<?> iterator) {
			return new CarriedIterator<>(iterator, context);
		}
		return method.signalsFailures() ? method.changedResult(result, context::around) : result;
	}

	/**
	 * Iterates with the context of the handler.
	 *
	 * @param <T> the elements
	 */
	private record CarriedIterator<T>(Iterator<T> source, CarriedContext context) implements Iterator<T> {

		@Override
		public boolean hasNext() {
			ContextPropagation.Scope scope = this.context.open();
			try {
				return this.source.hasNext();
			}
			finally {
				scope.close();
			}
		}

		@Override
		public T next() {
			ContextPropagation.Scope scope = this.context.open();
			try {
				return this.source.next();
			}
			finally {
				scope.close();
			}
		}

	}

}
