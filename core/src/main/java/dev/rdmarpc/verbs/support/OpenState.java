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

package dev.rdmarpc.verbs.support;

import java.util.concurrent.atomic.AtomicBoolean;

import dev.rdmarpc.verbs.VerbsError;
import dev.rdmarpc.verbs.VerbsException;

/** Whether a device, a domain or a queue is open. Thread-safe. */
public final class OpenState {

	private final String what;

	private final AtomicBoolean closed = new AtomicBoolean();

	/**
	 * Creates the state of something that is open.
	 * @param what its name in exceptions
	 */
	public OpenState(String what) {
		this.what = what;
	}

	/** Whether it has not been closed. */
	public boolean isOpen() {
		return !this.closed.get();
	}

	/**
	 * Checks that it is open.
	 * @throws VerbsException with {@link VerbsError#CLOSED} if not
	 */
	public void check() {
		if (this.closed.get()) {
			throw new VerbsException(VerbsError.CLOSED, this.what + " is closed");
		}
	}

	/** Closes it; returns whether it was open. */
	public boolean tryClose() {
		return this.closed.compareAndSet(false, true);
	}

}
