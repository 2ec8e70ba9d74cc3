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

import java.util.concurrent.Flow;

import dev.rdmarpc.memory.RegisteredBuffer;

/** A service with methods that return streams. */
interface Feed {

	/** The numbers from 0. */
	Flow.Publisher<Long> count(long many);

	/** Messages of a size each. */
	Flow.Publisher<byte[]> blocks(int many, int[] bytes);

	/** Whatever the test wants. */
	Flow.Publisher<Item> items(String name);

	/** The messages with another text. */
	Flow.Publisher<Item> relabel(Flow.Publisher<Item> items);

	/** The same registered memory again and again. */
	@RdmaMethod(inline = true)
	Flow.Publisher<RegisteredBuffer> letters(int many);

	String unary(String text);

	/** One message. */
	record Item(int number, String text) {

	}

}
