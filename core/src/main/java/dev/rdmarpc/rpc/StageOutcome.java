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

import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BiConsumer;

import org.jspecify.annotations.Nullable;

/** What the stage of a handler calls back, as often as it likes. */
final class StageOutcome extends AtomicBoolean implements BiConsumer<@Nullable Object, @Nullable Throwable> {

	private final transient ServerCall call;

	StageOutcome(ServerCall call) {
		this.call = call;
	}

	@Override
	public void accept(@Nullable Object result, @Nullable Throwable failure) {
		if (getAndSet(true)) {
			return;
		}
		if (failure != null) {
			this.call.fail((failure instanceof CompletionException && failure.getCause() != null) ? failure.getCause()
					: failure);
		}
		else {
			this.call.reply(result);
		}
	}

}
