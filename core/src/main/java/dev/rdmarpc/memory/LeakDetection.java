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

package dev.rdmarpc.memory;

/** How hard a {@link RegisteredMemory} looks for buffers that are never released. */
public enum LeakDetection {

	/** Not at all; costs nothing. */
	DISABLED,

	/**
	 * Some allocations are sampled; those that become unreachable unreleased are counted
	 * and logged with the place that allocated them.
	 */
	SIMPLE,

	/**
	 * Every allocation is followed, with each {@link RegisteredBuffer#touch(Object)
	 * touch}. Buffer objects are never reused, so that every use after release is
	 * detected; released memory is filled with a pattern and checked when it is allocated
	 * again; and {@link RegisteredMemory#close()} throws when buffers are outstanding.
	 * For tests.
	 */
	PARANOID

}
