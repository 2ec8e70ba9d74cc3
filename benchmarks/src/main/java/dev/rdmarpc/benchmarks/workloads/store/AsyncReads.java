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

package dev.rdmarpc.benchmarks.workloads.store;

import java.util.Optional;
import java.util.concurrent.CompletableFuture;

import dev.rdmarpc.sample.store.FeatureStore;
import dev.rdmarpc.sample.store.FeatureVector;

/** The gets of a {@link FeatureStore} that a caller does not wait for. */
public interface AsyncReads {

	/** As {@link FeatureStore#getAsync}. */
	CompletableFuture<Optional<FeatureVector>> get(String key);

}
