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

/** What kind of threads a server's own executor has. */
public enum HandlerThreads {

	/** Virtual threads from Java 24 on, else platform threads. */
	AUTO,

	/** Platform threads. */
	PLATFORM,

	/** Virtual threads, which exist from Java 21 on. */
	VIRTUAL;

	private static final int FIRST_WITH_VIRTUAL_THREADS = 21;

	/** Before, a virtual thread in a monitor keeps its carrier. */
	private static final int FIRST_WITHOUT_PINNING = 24;

	/** Whether this virtual machine has such threads. */
	public boolean isAvailable() {
		return this != VIRTUAL || Runtime.version().feature() >= FIRST_WITH_VIRTUAL_THREADS;
	}

	/** Whether the choice is virtual threads, here. */
	boolean isVirtual() {
		return this == VIRTUAL || (this == AUTO && Runtime.version().feature() >= FIRST_WITHOUT_PINNING);
	}

}
