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

package dev.rdmarpc.benchmarks.workloads.grpc;

import java.util.concurrent.CompletableFuture;

import io.grpc.stub.StreamObserver;

/** A future of the only reply. */
final class FutureObserver<T> extends CompletableFuture<T> implements StreamObserver<T> {

	@Override
	public void onNext(T reply) {
		complete(reply);
	}

	@Override
	public void onError(Throwable cause) {
		completeExceptionally(cause);
	}

	@Override
	public void onCompleted() {
		// the reply has come before
	}

}
