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

import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

import org.jspecify.annotations.Nullable;

/**
 * Settings of single calls, which take precedence over those of the method and the
 * client. Applied to a client, or to all calls that a block of code makes: <pre>{@code
 * CallOptions.deadline(Duration.ofMillis(5)).on(store).get("key");
 * CallOptions.deadline(Duration.ofMillis(5)).call(() -> store.get("key"));
 * }</pre> Immutable.
 *
 * @param deadline time for the call, or {@code null}; a century or more means none, and
 * more than 24 days are not sent to the server
 * @param priority priority, or {@code null}
 * @param waitForReady whether to wait for a connection (within the deadline) instead of
 * failing with the first failed attempt to connect
 * @param metadata travels with the request
 * @param replyMetadata gets what travels with the reply, or {@code null}
 * @param hashKey see {@link #withHashKey}, or {@code null}
 */
public record CallOptions(@Nullable Duration deadline, @Nullable Priority priority, boolean waitForReady,
		Map<String, String> metadata, @Nullable CallMetadata replyMetadata, @Nullable String hashKey) {

	/** No settings. */
	public static final CallOptions NONE = new CallOptions(null, null, false, Map.of(), null, null);

	/**
	 * Checks the bounds.
	 * @throws IllegalArgumentException naming the value and what was expected
	 */
	public CallOptions {
		if (deadline != null && (deadline.isNegative() || deadline.isZero())) {
			throw new IllegalArgumentException("deadline " + deadline + " (expected: positive)");
		}
		metadata = Collections.unmodifiableMap(new LinkedHashMap<>(metadata));
	}

	/** A deadline only. */
	public static CallOptions deadline(Duration deadline) {
		return NONE.withDeadline(deadline);
	}

	/** These options with another deadline. */
	public CallOptions withDeadline(Duration other) {
		return new CallOptions(other, this.priority, this.waitForReady, this.metadata, this.replyMetadata,
				this.hashKey);
	}

	/** These options with another priority. */
	public CallOptions withPriority(Priority other) {
		return new CallOptions(this.deadline, other, this.waitForReady, this.metadata, this.replyMetadata,
				this.hashKey);
	}

	/** These options, waiting for a connection. */
	public CallOptions withWaitForReady() {
		return new CallOptions(this.deadline, this.priority, true, this.metadata, this.replyMetadata, this.hashKey);
	}

	/**
	 * These options with an entry of metadata, which the handler finds in
	 * {@link RpcContext#requestMetadata()}. A call with more metadata than fits fails
	 * with {@link RpcStatus#RESOURCE_EXHAUSTED}.
	 */
	public CallOptions withMetadata(String key, String value) {
		CallMetadata.check(key, value);
		Map<String, String> more = new LinkedHashMap<>(this.metadata);
		more.put(key, value);
		return new CallOptions(this.deadline, this.priority, this.waitForReady, more, this.replyMetadata, this.hashKey);
	}

	/**
	 * The same with bytes, of which {@link #metadata} holds the text in Base64.
	 * @param key a name that ends in {@code -bin}
	 * @throws IllegalArgumentException if it does not
	 */
	public CallOptions withMetadata(String key, byte[] value) {
		return withMetadata(key, CallMetadata.text(key, value));
	}

	/**
	 * These options, with the metadata of the reply kept, in the target that they have
	 * already, or in one of their own. For interceptors, which leave the caller its own
	 * in this way.
	 */
	public CallOptions withReplyMetadata() {
		return (this.replyMetadata != null) ? this : withReplyMetadata(new CallMetadata());
	}

	/**
	 * These options, with the metadata of the reply kept. What the handler put into
	 * {@link RpcContext#replyMetadata()} is there when the call has returned, or thrown,
	 * or its future is complete.
	 * @param target for one call at a time; its entries are replaced by each reply
	 * @throws IllegalArgumentException if the target is the metadata of a request that
	 * was received, which is not to be written
	 */
	public CallOptions withReplyMetadata(CallMetadata target) {
		if (target.isReceived()) {
			throw new IllegalArgumentException(
					"the metadata of a request as target (expected: metadata of its own, made by new CallMetadata())");
		}
		return new CallOptions(this.deadline, this.priority, this.waitForReady, this.metadata, target, this.hashKey);
	}

	/**
	 * These options with a key: calls with the same one go to the same address as long as
	 * it is available, if the target has several and balances by consistent hash. Takes
	 * precedence over {@link RdmaHashKey}.
	 */
	public CallOptions withHashKey(String key) {
		return new CallOptions(this.deadline, this.priority, this.waitForReady, this.metadata, this.replyMetadata, key);
	}

	/**
	 * The same client with these options. Cheap; the result may be kept.
	 * @param client of a type that is an interface: made by {@link RpcClient#proxy}, or
	 * one around it, such as a proxy of aspects or a spy, or one in its place, such as a
	 * mock. To all but the first, options are passed as by {@link #call}
	 * @throws IllegalArgumentException if it implements no interface
	 */
	@SuppressWarnings("unchecked")
	public <T> T on(T client) {
		if (Proxy.isProxyClass(client.getClass())
				&& Proxy.getInvocationHandler(client) instanceof OptionsTarget handler) {
			return (T) handler.withOptions(this);
		}
		return (T) OptionsProxy.around(client, this);
	}

	/**
	 * Has all calls that the current thread makes in a block use these options, as far as
	 * those given to {@link #on} do not say otherwise. Inside another block its options
	 * are used as well, as far as these do not say otherwise.
	 * @return what the block returns
	 * @throws X what the block throws
	 */
	public <T extends @Nullable Object, X extends Throwable> T call(Block<? extends T, X> block) throws X {
		CallOptions outer = OptionsScope.enter(this);
		try {
			return block.call();
		}
		finally {
			OptionsScope.leave(outer);
		}
	}

	/** The same for a block without result. */
	public void run(Runnable block) {
		CallOptions outer = OptionsScope.enter(this);
		try {
			block.run();
		}
		finally {
			OptionsScope.leave(outer);
		}
	}

	/**
	 * The options of the block that the current thread is in, or {@link #NONE}. For mocks
	 * that check what they are called with.
	 */
	public static CallOptions current() {
		CallOptions current = OptionsScope.current();
		return (current != null) ? current : NONE;
	}

	/** These options, and those of another where these have none. */
	CallOptions or(CallOptions other) {
		Map<String, String> both = new LinkedHashMap<>(other.metadata);
		both.putAll(this.metadata);
		return new CallOptions((this.deadline != null) ? this.deadline : other.deadline,
				(this.priority != null) ? this.priority : other.priority, this.waitForReady || other.waitForReady, both,
				(this.replyMetadata != null) ? this.replyMetadata : other.replyMetadata,
				(this.hashKey != null) ? this.hashKey : other.hashKey);
	}

	/**
	 * Code that makes calls.
	 *
	 * @param <T> the type of its result
	 * @param <X> the type of what it throws
	 */
	@FunctionalInterface
	public interface Block<T extends @Nullable Object, X extends Throwable> {

		/** Makes the calls. */
		T call() throws X;

	}

}
