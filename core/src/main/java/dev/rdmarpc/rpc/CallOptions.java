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

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.transport.Priority;

/**
 * Settings of single calls, which take precedence over those of the method and the
 * client. Applied with {@link #on}: <pre>{@code
 * CallOptions.deadline(Duration.ofMillis(5)).on(store).get("key");
 * }</pre> Immutable.
 *
 * @param deadline time for the call, or {@code null}; a century or more means none, and
 * more than 24 days are not sent to the server
 * @param priority priority, or {@code null}
 * @param waitForReady whether to wait for a connection (within the deadline) instead of
 * failing with the first failed attempt to connect
 */
public record CallOptions(@Nullable Duration deadline, @Nullable Priority priority, boolean waitForReady) {

	/** No settings. */
	public static final CallOptions NONE = new CallOptions(null, null, false);

	/**
	 * Checks the bounds.
	 * @throws IllegalArgumentException naming the value and what was expected
	 */
	public CallOptions {
		if (deadline != null && (deadline.isNegative() || deadline.isZero())) {
			throw new IllegalArgumentException("deadline " + deadline + " (expected: positive)");
		}
	}

	/** A deadline only. */
	public static CallOptions deadline(Duration deadline) {
		return NONE.withDeadline(deadline);
	}

	/** These options with another deadline. */
	public CallOptions withDeadline(Duration other) {
		return new CallOptions(other, this.priority, this.waitForReady);
	}

	/** These options with another priority. */
	public CallOptions withPriority(Priority other) {
		return new CallOptions(this.deadline, other, this.waitForReady);
	}

	/** These options, waiting for a connection. */
	public CallOptions withWaitForReady() {
		return new CallOptions(this.deadline, this.priority, true);
	}

	/**
	 * The same client with these options. Cheap; the result may be kept.
	 * @param proxy made by {@link RpcClient#proxy}
	 * @throws IllegalArgumentException if it is anything else
	 */
	@SuppressWarnings("unchecked")
	public <T> T on(T proxy) {
		if (Proxy.isProxyClass(proxy.getClass()) && Proxy.getInvocationHandler(proxy) instanceof ServiceProxy handler) {
			return (T) handler.withOptions(this);
		}
		throw new IllegalArgumentException(proxy.getClass().getName() + " (expected: a proxy made by RpcClient)");
	}

}
