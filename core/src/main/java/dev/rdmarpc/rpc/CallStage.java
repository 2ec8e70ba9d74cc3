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
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

import org.jspecify.annotations.Nullable;

/**
 * The future of a call, or a stage that depends on one: whoever waits for it is thrown
 * failures of calls with the stack of the waiting thread.
 */
class CallStage<T extends @Nullable Object> extends CompletableFuture<T> {

	@Override
	public T get() throws InterruptedException, ExecutionException {
		try {
			return super.get();
		}
		catch (ExecutionException ex) {
			throw thrownHere(ex);
		}
	}

	@Override
	public T get(long timeout, TimeUnit unit) throws InterruptedException, ExecutionException, TimeoutException {
		try {
			return super.get(timeout, unit);
		}
		catch (ExecutionException ex) {
			throw thrownHere(ex);
		}
	}

	@Override
	public T join() {
		try {
			return super.join();
		}
		catch (CompletionException ex) {
			throw thrownHere(ex);
		}
	}

	@Override
	public T getNow(T absent) {
		try {
			return super.getNow(absent);
		}
		catch (CompletionException ex) {
			throw thrownHere(ex);
		}
	}

	/** The exception of {@code get} was made by this very thread, unlike its cause. */
	private static ExecutionException thrownHere(ExecutionException failure) {
		if (!(failure.getCause() instanceof RpcException cause)) {
			return failure;
		}
		RpcException thrown = cause.thrownHere();
		return (thrown != cause) ? new ExecutionException(thrown) : failure;
	}

	/** A stage that depends on others keeps the exception that completed it. */
	private static CompletionException thrownHere(CompletionException failure) {
		return (failure.getCause() instanceof RpcException cause) ? new CompletionException(cause.thrownHere())
				: failure;
	}

	@Override
	public <U> CompletableFuture<U> newIncompleteFuture() {
		return new CallStage<>();
	}

}
