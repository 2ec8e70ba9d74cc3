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

import java.util.function.Consumer;

/**
 * The tie between a {@link RegisteredMemory} and one {@link RegistrationHook}. Names
 * which of a buffer's regions to use. Thread-safe.
 */
public final class MemoryAttachment implements AutoCloseable {

	private final Consumer<MemoryAttachment> detach;

	private final RegistrationHook hook;

	private final int index;

	private volatile boolean closed;

	MemoryAttachment(Consumer<MemoryAttachment> detach, RegistrationHook hook, int index) {
		this.detach = detach;
		this.hook = hook;
		this.index = index;
	}

	/** A small number, unique among the open attachments of a memory. */
	public int index() {
		return this.index;
	}

	RegistrationHook hook() {
		return this.hook;
	}

	boolean isClosed() {
		return this.closed;
	}

	void markClosed() {
		this.closed = true;
	}

	/**
	 * Detaches: deregisters all memory from the device, also what is in use. Idempotent.
	 */
	@Override
	public void close() {
		this.detach.accept(this);
	}

	@Override
	public String toString() {
		return "attachment " + this.index + (this.closed ? " (closed)" : "");
	}

}
