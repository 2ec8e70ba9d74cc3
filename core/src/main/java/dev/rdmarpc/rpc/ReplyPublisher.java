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
import java.util.concurrent.Flow;

import org.jspecify.annotations.Nullable;

/**
 * What a client gets from a method that returns a stream. Each subscription makes a call
 * of its own, with the arguments that the method was called with. Thread-safe.
 */
final class ReplyPublisher implements Flow.Publisher<Object> {

	private final ClientCalls calls;

	private final MethodDescriptor method;

	private final byte[] arguments;

	private final Flow.@Nullable Publisher<?> messages;

	private final CallOptions options;

	private final long key;

	/**
	 * Creates the publisher.
	 * @param messages what follows the request of each call, or {@code null}
	 * @param key of each call
	 */
	ReplyPublisher(ClientCalls calls, MethodDescriptor method, byte[] arguments, Flow.@Nullable Publisher<?> messages,
			CallOptions options, long key) {
		this.calls = calls;
		this.method = method;
		this.arguments = arguments;
		this.messages = messages;
		this.options = options;
		this.key = key;
	}

	@Override
	public void subscribe(Flow.@Nullable Subscriber<? super Object> subscriber) {
		Objects.requireNonNull(subscriber, "subscriber");
		CarriedContext context = (subscriber instanceof AwaitedMessages) ? null : this.calls.capture();
		new ReplySubscription(this.calls, this.method, this.arguments, this.messages, this.options, this.key)
			.start((context != null) ? context.around(subscriber) : subscriber);
	}

	@Override
	public String toString() {
		return "stream of " + this.method + " at " + this.calls.target();
	}

}
