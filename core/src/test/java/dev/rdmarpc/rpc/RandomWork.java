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

import java.util.Random;
import java.util.concurrent.CompletableFuture;

/** A service whose handlers do what a seed says. */
interface RandomWork {

	@RdmaMethod(inline = true)
	String echo(String text);

	String plain(String text);

	@RdmaMethod(inline = true)
	int inline(Order order);

	int anywhere(Order order);

	@RdmaMethod(inline = true)
	CompletableFuture<Integer> laterInline(Order order);

	CompletableFuture<Integer> later(Order order);

	/**
	 * Work to do.
	 *
	 * @param seed what is done, and the answer
	 * @param depth how many servers further it may be passed on
	 */
	record Order(long seed, int depth) {

		int value() {
			return (int) ((this.seed * 0x9E3779B97F4A7C15L) >>> 33);
		}

		Order inner(Random random) {
			return new Order(random.nextLong(), this.depth - 1);
		}

		Order withoutCalls() {
			return new Order(this.seed, 0);
		}

	}

}
