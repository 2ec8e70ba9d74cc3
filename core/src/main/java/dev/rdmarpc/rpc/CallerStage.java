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
import java.util.concurrent.Executor;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

/**
 * The future of a call, which its caller ends by completing it in whatever way. Stages
 * that depend on it are ordinary ones.
 */
abstract class CallerStage extends CallStage<@Nullable Object> {

	/** The caller has ended the call; once, or again if it obtrudes something. */
	abstract void givenUp();

	/** The call has a result. */
	final boolean succeed(@Nullable Object value) {
		return super.complete(value);
	}

	/** The call has failed. */
	final boolean failWith(Throwable failure) {
		return super.completeExceptionally(failure);
	}

	@Override
	public boolean cancel(boolean mayInterruptIfRunning) {
		return giveUpIf(super.cancel(mayInterruptIfRunning));
	}

	@Override
	public boolean complete(@Nullable Object value) {
		return giveUpIf(super.complete(value));
	}

	@Override
	public boolean completeExceptionally(Throwable failure) {
		return giveUpIf(super.completeExceptionally(failure));
	}

	@Override
	public CompletableFuture<@Nullable Object> completeAsync(Supplier<? extends @Nullable Object> supplier,
			Executor executor) {
		executor.execute(() -> {
			try {
				complete(supplier.get());
			}
			catch (Throwable ex) {
				completeExceptionally(ex);
			}
		});
		return this;
	}

	@Override
	public void obtrudeValue(@Nullable Object value) {
		boolean early = !isDone();
		super.obtrudeValue(value);
		giveUpIf(early);
	}

	@Override
	public void obtrudeException(Throwable failure) {
		boolean early = !isDone();
		super.obtrudeException(failure);
		giveUpIf(early);
	}

	private boolean giveUpIf(boolean completed) {
		if (completed) {
			givenUp();
		}
		return completed;
	}

}
