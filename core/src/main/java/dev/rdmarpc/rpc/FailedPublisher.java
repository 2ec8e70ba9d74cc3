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

import java.util.Objects;
import java.util.concurrent.Flow;

import org.jspecify.annotations.Nullable;

/** Tells each subscriber that what it subscribes to cannot begin. */
record FailedPublisher(Throwable failure) implements Flow.Publisher<Object> {

	@Override
	public void subscribe(Flow.@Nullable Subscriber<? super Object> subscriber) {
		Objects.requireNonNull(subscriber, "subscriber");
		subscriber.onSubscribe(NoSubscription.INSTANCE);
		subscriber.onError(this.failure);
	}

}
