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

import org.jspecify.annotations.Nullable;

/**
 * A method that is called without its interface: arguments and results are trees of
 * {@link java.util.Map}, {@link java.util.List}, {@link String}, {@link Number},
 * {@link Boolean} and {@code byte[]}, as {@link dev.rdmarpc.flatbuffers.SchemaCodec}
 * says. If the method has exactly one parameter, and that is a record, its components are
 * the entries of the map; otherwise the parameters are.
 *
 * <p>
 * Thread-safe. Calls fail with {@link RpcException} as those of proxies do. One with
 * {@link RpcStatus#INVALID_ARGUMENT} that has not left names the field, what was given
 * and what was expected. Priority and deadline are those of the client, not those that
 * the interface declares, unless {@link #withOptions} sets others.
 */
public final class GenericMethod {

	private final String service;

	private final RdmaReflection.Method description;

	private final GenericCall now;

	private final GenericCall later;

	GenericMethod(String service, RdmaReflection.Method description, GenericCall now, GenericCall later) {
		this.service = service;
		this.description = description;
		this.now = now;
		this.later = later;
	}

	/** The name of its service. */
	public String service() {
		return this.service;
	}

	/** What the server says about it. */
	public RdmaReflection.Method description() {
		return this.description;
	}

	/** The same with other settings of its calls. */
	public GenericMethod withOptions(CallOptions options) {
		return new GenericMethod(this.service, this.description, options.on(this.now), options.on(this.later));
	}

	/**
	 * Calls it and waits for the reply.
	 * @param arguments a map, or {@code null} for none
	 * @return the result as a tree, {@code null} for none
	 * @throws IllegalStateException if the method replies with a stream
	 */
	public @Nullable Object call(@Nullable Object arguments) {
		if (this.description.streaming()) {
			throw new IllegalStateException(this + " replies with a stream (expected: stream, not call)");
		}
		if (this.description.oneWay()) {
			this.now.oneWay(arguments);
			return null;
		}
		return this.description.idempotent() ? this.now.repeatable(arguments) : this.now.call(arguments);
	}

	/**
	 * Calls it without waiting.
	 * @param arguments a map, or {@code null} for none
	 * @return the result as a tree; cancelling it cancels the call
	 * @throws IllegalStateException if the method replies with a stream, or not at all
	 */
	public CompletableFuture<@Nullable Object> callAsync(@Nullable Object arguments) {
		if (this.description.streaming() || this.description.oneWay()) {
			throw new IllegalStateException(
					this + (this.description.oneWay() ? " has no reply" : " replies with a stream")
							+ " (expected: a method with one reply)");
		}
		return this.description.idempotent() ? this.later.repeatableFuture(arguments) : this.later.future(arguments);
	}

	/**
	 * Calls it when it is subscribed to, with what the arguments are now.
	 * @param arguments a map, or {@code null} for none
	 * @throws IllegalStateException if the method does not reply with a stream
	 */
	public Flow.Publisher<Object> stream(@Nullable Object arguments) {
		if (!this.description.streaming()) {
			throw new IllegalStateException(this + " does not reply with a stream (expected: call, not stream)");
		}
		return this.later.stream(arguments);
	}

	@Override
	public String toString() {
		return this.service + "/" + this.description.name();
	}

}
