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

package dev.rdmarpc.boot.test;

import java.util.Iterator;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import java.util.concurrent.Future;
import java.util.stream.BaseStream;

import org.assertj.core.api.Assertions;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import org.springframework.util.ClassUtils;
import reactor.core.publisher.Mono;

import dev.rdmarpc.rpc.RpcException;
import dev.rdmarpc.rpc.RpcStatus;

/**
 * AssertJ assertions about failed calls: <pre>{@code
 * assertThatCall(() -> prices.find("apple")).failsWith(RpcStatus.NOT_FOUND).hasDetail("no such article");
 * }</pre> They find the failure in the exception of a future, and behind an exception
 * that the service declares.
 */
public final class RpcAssertions {

	private static final boolean REACTOR = ClassUtils.isPresent("reactor.core.publisher.Mono",
			RpcAssertions.class.getClassLoader());

	private RpcAssertions() {
	}

	/** Begins an assertion about a blocking call, or any code that makes calls. */
	public static RpcCallAssert assertThatCall(ThrowingCallable call) {
		return new RpcCallAssert(call);
	}

	/**
	 * Begins an assertion about a call that returns something. The future of an
	 * asynchronous call, or the {@code Mono} of a reactive one, is waited for. A stream
	 * would have to be read for its call to fail, so the code has to do that.
	 */
	public static RpcCallAssert assertThatCall(Callable<?> call) {
		return new RpcCallAssert(() -> await(call.call()));
	}

	private static void await(@Nullable Object result) throws Exception {
		if (result == null) {
			return;
		}
		if (result instanceof CompletionStage<?> stage) {
			stage.toCompletableFuture().get();
		}
		else if (result instanceof Future<?> future) {
			future.get();
		}
		else if (REACTOR && Reactive.isMono(result)) {
			Reactive.await(result);
		}
		else if (result instanceof BaseStream || result instanceof Iterator || result instanceof Flow.Publisher
				|| (REACTOR && Reactive.isPublisher(result))) {
			throw new IllegalArgumentException("the call returns a " + result.getClass().getName()
					+ " that nobody reads (expected: code that reads it)");
		}
	}

	/** Begins an assertion about the future of a call, which is waited for. */
	public static RpcCallAssert assertThatCall(Future<?> call) {
		return new RpcCallAssert(call::get);
	}

	/**
	 * Begins an assertion about the failure of a call.
	 * @param failure the exception, or one that stands for it
	 */
	public static RpcExceptionAssert assertThatFailure(Throwable failure) {
		RpcException found = RpcException.in(failure);
		if (found == null) {
			throw new AssertionError("Expecting the failure of a call but was: " + failure, failure);
		}
		return new RpcExceptionAssert(found);
	}

	/** Makes assertions about a call. */
	public static final class RpcCallAssert {

		private final ThrowingCallable call;

		private RpcCallAssert(ThrowingCallable call) {
			this.call = call;
		}

		/** Makes the call and verifies that it fails with a status. */
		public RpcExceptionAssert failsWith(RpcStatus status) {
			Throwable thrown = Assertions.catchThrowable(this.call);
			if (thrown == null) {
				throw new AssertionError("Expecting a call to fail with " + status + " but it succeeded");
			}
			return assertThatFailure(thrown).hasStatus(status);
		}

		/** Makes the call and verifies that it succeeds. */
		public void succeeds() {
			Assertions.assertThatCode(this.call).doesNotThrowAnyException();
		}

	}

	/** What needs Reactor on the class path. */
	private static final class Reactive {

		static boolean isMono(Object result) {
			return result instanceof Mono;
		}

		static boolean isPublisher(Object result) {
			return result instanceof Publisher;
		}

		static void await(Object mono) throws Exception {
			((Mono<?>) mono).toFuture().get();
		}

	}

}
