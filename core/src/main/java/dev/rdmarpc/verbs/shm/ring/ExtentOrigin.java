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

package dev.rdmarpc.verbs.shm.ring;

import dev.rdmarpc.verbs.MemoryOrigin;

/**
 * Which file memory is mapped from, which who is trusted may map too.
 *
 * <p>
 * Behind the memory, the file has a seal, which is gone when the file was cut: the
 * virtual machine tells of a fault in mapped memory later than it goes on with what it
 * has not read.
 *
 * @param pool the number of its owner
 * @param extent the number of the file among those of its owner
 */
public record ExtentOrigin(long pool, long extent) implements MemoryOrigin {

	/** The size of the seal, in the byte order of the host. */
	public static final int SEAL_BYTES = Long.BYTES;

	/** The seal, which is not 0. */
	public long seal() {
		return seal(this.pool, this.extent);
	}

	static long seal(long pool, long extent) {
		return (extent * 0x9E3779B97F4A7C15L ^ pool) | 1;
	}

}
