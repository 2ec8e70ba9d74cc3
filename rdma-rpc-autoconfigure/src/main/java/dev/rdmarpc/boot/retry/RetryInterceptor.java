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

package dev.rdmarpc.boot.retry;

import java.util.Collections;
import java.util.Map;
import java.util.WeakHashMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.BiFunction;
import java.util.function.Function;

import org.jspecify.annotations.Nullable;
import org.springframework.core.Ordered;
import org.springframework.core.retry.RetryPolicy;

import dev.rdmarpc.rpc.AttemptBudget;
import dev.rdmarpc.rpc.MethodDescriptor;
import dev.rdmarpc.rpc.RpcClientCall;
import dev.rdmarpc.rpc.RpcClientInterceptor;
import dev.rdmarpc.rpc.RpcException;
import dev.rdmarpc.rpc.RpcStatus;

/**
 * Makes calls again that have failed: those of idempotent methods, and those that no
 * handler has begun with. It does so within the deadline of the call and the budget of
 * the target, with Spring's {@link RetryPolicy} and its back-off. Methods with streams
 * are left alone.
 *
 * <p>
 * Thread-safe. A caller who waits for the result also waits between attempts; other calls
 * take no thread.
 */
public final class RetryInterceptor implements RpcClientInterceptor, Ordered {

	/** Around interceptors that judge single attempts, such as circuit breakers. */
	public static final int ORDER = Ordered.LOWEST_PRECEDENCE - 500;

	private final BiFunction<String, MethodDescriptor, RetrySettings> settings;

	private final Function<String, AttemptBudget> budgets;

	private final RetryListener listener;

	/** Those that proxies still have; proxies can be made again and again. */
	private final Map<MethodDescriptor, Retries> methods = Collections.synchronizedMap(new WeakHashMap<>());

	private final Map<String, AttemptBudget> targets = new ConcurrentHashMap<>();

	/**
	 * Creates the interceptor of all clients.
	 * @param settings of the methods of each target
	 * @param budgets makes the budget of a target
	 * @param listener is told of each retry
	 */
	public RetryInterceptor(BiFunction<String, MethodDescriptor, RetrySettings> settings,
			Function<String, AttemptBudget> budgets, RetryListener listener) {
		this.settings = settings;
		this.budgets = budgets;
		this.listener = listener;
	}

	@Override
	public int getOrder() {
		return ORDER;
	}

	@Override
	public boolean appliesTo(String target, MethodDescriptor method) {
		if (method.streaming() || method.consuming()) {
			return false;
		}
		RetrySettings chosen = this.settings.apply(target, method);
		if (chosen.maxRetries() == 0) {
			return false;
		}
		this.methods.put(method,
				new Retries(chosen.policy(method.idempotent()), this.targets.computeIfAbsent(target, this.budgets)));
		return true;
	}

	@Override
	public @Nullable Object intercept(RpcClientCall call) {
		Retries retries = this.methods.get(call.method());
		if (retries == null) {
			return call.proceed();
		}
		retries.budget().called();
		return call.method().asynchronous() ? RetriedCall.of(call, () -> attempts(call, retries)) : wait(call, retries);
	}

	private Attempts attempts(RpcClientCall call, Retries retries) {
		return new Attempts(call, retries.policy(), retries.budget(), this.listener);
	}

	private @Nullable Object wait(RpcClientCall call, Retries retries) {
		Attempts attempts = null;
		while (true) {
			try {
				return call.proceed();
			}
			catch (RpcException ex) {
				if (attempts == null) {
					attempts = attempts(call, retries);
				}
				long pause = attempts.failed(ex);
				if (pause < 0) {
					throw ex;
				}
				pause(call, pause, ex);
				attempts.retrying();
			}
		}
	}

	/** Waits before the next attempt. */
	private static void pause(RpcClientCall call, long millis, RpcException failure) {
		try {
			new CountDownLatch(1).await(millis, TimeUnit.MILLISECONDS);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			RpcException interrupted = new RpcException(RpcStatus.CANCELLED,
					"the calling thread was interrupted before the call was made again", call.method().service(),
					call.method().name(), ex);
			interrupted.addSuppressed(failure);
			throw interrupted;
		}
	}

	/**
	 * How the calls of one method are retried.
	 *
	 * @param policy what is retried, and when
	 * @param budget of the target
	 */
	private record Retries(RetryPolicy policy, AttemptBudget budget) {

	}

}
