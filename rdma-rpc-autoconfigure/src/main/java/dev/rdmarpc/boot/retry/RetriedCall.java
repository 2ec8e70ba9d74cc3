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

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.codec.SegmentOwner;
import dev.rdmarpc.memory.RegisteredBuffer;
import dev.rdmarpc.rpc.RpcClientCall;

/**
 * An asynchronous call that is made again when it fails. No thread waits: the next
 * attempt begins on a thread of the common pool when its time has come.
 *
 * <p>
 * Implementation notes. One attempt runs at a time, and each begins after the failure of
 * the one before, so the fields need no lock. However the future is completed, the
 * attempt that runs is canceled; the interceptors' chain cancels one that begins later.
 */
final class RetriedCall implements BiConsumer<@Nullable Object, @Nullable Throwable>, Runnable {

	private final RpcClientCall call;

	private final Supplier<Attempts> begin;

	private final CompletableFuture<@Nullable Object> result;

	private volatile CompletableFuture<?> attempt;

	private @Nullable Attempts attempts;

	private RetriedCall(RpcClientCall call, Supplier<Attempts> begin, CompletableFuture<?> first) {
		this.call = call;
		this.begin = begin;
		this.attempt = first;
		this.result = first.newIncompleteFuture();
	}

	/** Makes the call, and returns its future. */
	static CompletableFuture<?> of(RpcClientCall call, Supplier<Attempts> begin) {
		RpcClientCall kept = call.kept();
		RetriedCall retried = new RetriedCall(kept, begin, proceed(kept));
		retried.result.whenComplete((value, failure) -> retried.attempt.cancel(false));
		retried.attempt.whenComplete(retried);
		return retried.result;
	}

	/** A call that cannot even begin has failed like others. */
	private static CompletableFuture<?> proceed(RpcClientCall call) {
		try {
			CompletionStage<?> stage = (CompletionStage<?>) call.proceed();
			if (stage == null) {
				throw new IllegalStateException(call + " has no future");
			}
			return stage.toCompletableFuture();
		}
		catch (RuntimeException ex) {
			return CompletableFuture.failedFuture(ex);
		}
	}

	@Override
	public void accept(@Nullable Object value, @Nullable Throwable thrown) {
		try {
			ended(value, thrown);
		}
		catch (Throwable ex) {
			this.result.completeExceptionally(ex);
		}
	}

	private void ended(@Nullable Object value, @Nullable Throwable thrown) {
		if (thrown == null) {
			if (!this.result.complete(value)) {
				release(value);
			}
			return;
		}
		Throwable failure = (thrown instanceof CompletionException && thrown.getCause() != null) ? thrown.getCause()
				: thrown;
		if (this.result.isDone()) {
			return;
		}
		Attempts known = this.attempts;
		if (known == null) {
			known = this.begin.get();
			this.attempts = known;
		}
		long pause = known.failed(failure);
		if (pause >= 0) {
			CompletableFuture.delayedExecutor(pause, TimeUnit.MILLISECONDS).execute(this);
		}
		else {
			this.result.completeExceptionally(failure);
		}
	}

	@Override
	public void run() {
		Attempts known = this.attempts;
		if (known == null || this.result.isDone()) {
			return;
		}
		try {
			known.retrying();
			CompletableFuture<?> next = proceed(this.call);
			this.attempt = next;
			if (this.result.isDone()) {
				next.cancel(false);
			}
			next.whenComplete(this);
		}
		catch (Throwable ex) {
			this.result.completeExceptionally(ex);
		}
	}

	/** Gives back what holds received memory and nobody gets. */
	private static void release(@Nullable Object value) {
		if (value instanceof RegisteredBuffer buffer) {
			buffer.release();
		}
		else if (value instanceof SegmentOwner owner) {
			owner.release();
		}
	}

}
