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

package dev.rdmarpc.verbs;

import java.nio.ByteBuffer;

import org.jspecify.annotations.Nullable;

/**
 * Where a provider has memory that suits it better than what a process allocates by
 * itself. Thread-safe.
 */
public interface MemorySource extends AutoCloseable {

	/**
	 * Allocates memory that begins at a page.
	 * @param lengthBytes a multiple of 4096
	 * @return zeros; given back when the buffer and all views of it are unreachable.
	 * {@code null} if there is none: the caller then uses memory of its own
	 */
	@Nullable ProvidedMemory tryAllocate(int lengthBytes);

	/**
	 * Provides no more. What was provided stays readable and writable for who has it, and
	 * is not special any more. Idempotent.
	 */
	@Override
	void close();

	/**
	 * A piece of memory.
	 *
	 * @param memory a direct buffer
	 * @param origin for {@link ProtectionDomain#registerProvided}; does not keep the
	 * memory reachable
	 */
	record ProvidedMemory(ByteBuffer memory, MemoryOrigin origin) {

	}

}
