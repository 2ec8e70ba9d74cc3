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

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletionStage;

import org.jspecify.annotations.Nullable;

/**
 * The futures that an interceptor has got of one call. When the one that it made of them
 * is cancelled, so are they, and those that it gets later. Thread-safe.
 */
final class DerivedFutures {

	private final List<CompletionStage<?>> sources = new ArrayList<>(1);

	private boolean cancelled;

	/** The interceptor gets a future. */
	void add(@Nullable Object source) {
		if (source instanceof CompletionStage<?> stage && !keep(stage)) {
			new StageCancellation(stage).run();
		}
	}

	private synchronized boolean keep(CompletionStage<?> source) {
		if (!this.cancelled) {
			this.sources.add(source);
		}
		return !this.cancelled;
	}

	/** The interceptor returns a future. */
	void returned(@Nullable Object result) {
		if (result instanceof CompletionStage<?> stage && !isOnly(stage)) {
			stage.whenComplete((value, failure) -> {
				if (failure instanceof CancellationException) {
					cancel();
				}
			});
		}
	}

	@SuppressWarnings("ReferenceEquality") // the same one needs no help
	private synchronized boolean isOnly(CompletionStage<?> result) {
		return this.sources.size() == 1 && this.sources.get(0) == result;
	}

	private void cancel() {
		List<CompletionStage<?>> running;
		synchronized (this) {
			this.cancelled = true;
			running = List.copyOf(this.sources);
		}
		running.forEach((stage) -> new StageCancellation(stage).run());
	}

}
