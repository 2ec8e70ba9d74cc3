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

import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Flow;

import org.jspecify.annotations.Nullable;

/**
 * The forms in which methods are called whose interfaces are not there. One of them is
 * called under the name of such a method, with the formats of its schema.
 */
interface GenericCall {

	/** Waits for the reply. */
	@Nullable Object call(@Nullable Object arguments);

	/** The same for a method that may be repeated. */
	@RdmaMethod(idempotent = true)
	@Nullable Object repeatable(@Nullable Object arguments);

	/** Waits for nothing. */
	CompletableFuture<Object> future(@Nullable Object arguments);

	/** The same for a method that may be repeated. */
	@RdmaMethod(idempotent = true)
	CompletableFuture<Object> repeatableFuture(@Nullable Object arguments);

	/** Of a method that replies with a stream. */
	Flow.Publisher<Object> stream(@Nullable Object arguments);

	/** Of a method that nobody replies to. */
	@RdmaMethod(oneWay = true)
	void oneWay(@Nullable Object arguments);

	/** The form of that name. */
	static Method form(String name) {
		return Arrays.stream(GenericCall.class.getMethods())
			.filter((method) -> method.getName().equals(name))
			.findFirst()
			.orElseThrow();
	}

}
