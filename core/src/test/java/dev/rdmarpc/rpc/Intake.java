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
import java.util.concurrent.Flow;

/** A service with methods that take streams. */
interface Intake {

	long sum(Flow.Publisher<Long> numbers);

	CompletableFuture<String> join(String before, Flow.Publisher<Feed.Item> items, String after);

	CompletableFuture<Long> weigh(Flow.Publisher<byte[]> blocks);

	/** Whatever the test wants. */
	CompletableFuture<String> handle(Flow.Publisher<Feed.Item> items);

	Flow.Publisher<Feed.Item> relabel(Flow.Publisher<Feed.Item> items, String label);

	/** Whatever the test wants. */
	Flow.Publisher<Feed.Item> convert(Flow.Publisher<Feed.Item> items);

	String unary(String text);

}
