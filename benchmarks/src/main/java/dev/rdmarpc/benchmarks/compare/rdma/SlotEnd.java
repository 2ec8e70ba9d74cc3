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

package dev.rdmarpc.benchmarks.compare.rdma;

import java.util.function.BiConsumer;
import java.util.function.ToLongFunction;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.benchmarks.compare.CallbackLoop;

/** Ends the calls of a slot, one after the other. */
final class SlotEnd<T> implements BiConsumer<@Nullable T, @Nullable Throwable> {

	private final CallbackLoop.Slot slot;

	private final long sentBytes;

	private final ToLongFunction<T> answeredBytes;

	/**
	 * Creates the end of a slot's calls.
	 * @param answeredBytes what a reply says about the payload's length; it owns the
	 * reply
	 */
	SlotEnd(CallbackLoop.Slot slot, long sentBytes, ToLongFunction<T> answeredBytes) {
		this.slot = slot;
		this.sentBytes = sentBytes;
		this.answeredBytes = answeredBytes;
	}

	@Override
	public void accept(@Nullable T reply, @Nullable Throwable failure) {
		if (failure != null || reply == null) {
			this.slot.fail((failure != null) ? failure : new IllegalStateException("no reply"));
			return;
		}
		try {
			PayloadCalls.check(this.sentBytes, this.answeredBytes.applyAsLong(reply));
		}
		catch (IllegalStateException ex) {
			this.slot.fail(ex);
			return;
		}
		this.slot.succeed();
	}

}
