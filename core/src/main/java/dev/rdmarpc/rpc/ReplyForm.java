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
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Future;

/**
 * The types in which a method can return its one reply. On the wire they are the same.
 *
 * <p>
 * Implementation notes. Types of Reactor are recognized by their names, so that nothing
 * of it is loaded before an interface names one.
 */
enum ReplyForm {

	/** The value itself, for which the caller waits. */
	VALUE,

	/** A future or stage. */
	FUTURE,

	/** A {@code Mono}: each subscription makes a call. */
	MONO;

	/**
	 * The form of a method's result.
	 * @throws InvalidInterfaceException if it is another kind of future
	 */
	static ReplyForm of(Method method) {
		Class<?> type = method.getReturnType();
		if (type == CompletableFuture.class || type == CompletionStage.class) {
			return FUTURE;
		}
		if (Future.class.isAssignableFrom(type)) {
			throw new InvalidInterfaceException(
					method.getDeclaringClass().getName() + "/" + method.getName() + " returns " + type.getName()
							+ " (expected: CompletableFuture or CompletionStage, if callers are not to wait)",
					"return a CompletableFuture, or the value itself");
		}
		return type.getName().equals("reactor.core.publisher.Mono") ? MONO : VALUE;
	}

	/** What a handler has returned that is no value, and which is subscribed to now. */
	CompletionStage<?> stage(Object returned) {
		return (this == MONO) ? ReactorForms.stage(returned) : (CompletionStage<?>) returned;
	}

}
