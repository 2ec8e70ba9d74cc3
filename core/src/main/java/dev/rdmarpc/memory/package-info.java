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

/**
 * Registered memory: a pool that devices may read and write, and the buffers allocated
 * from it.
 *
 * <p>
 * Who owns a buffer. Every buffer has one owner at a time, who releases it; everybody
 * else borrows it for the length of a call or retains it. Every path that ends early
 * gives everything back. The table in {@code docs/architecture.md} has each step.
 *
 * <p>
 * A buffer of the user's own memory
 * ({@link dev.rdmarpc.memory.RegisteredMemory#register}) is owned like any other; the
 * memory behind it stays the user's, and stays registered until it is forgotten or
 * dropped from the cache of registrations.
 */
@NullMarked
package dev.rdmarpc.memory;

import org.jspecify.annotations.NullMarked;
