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

import java.util.concurrent.atomic.AtomicInteger;

import dev.rdmarpc.verbs.SharedReceiveQueue;
import dev.rdmarpc.verbs.VerbsError;
import dev.rdmarpc.verbs.VerbsException;
import dev.rdmarpc.verbs.WorkOpcode;
import dev.rdmarpc.verbs.WorkRequest;

/** A shared receive queue that counts who uses it. */
public abstract class CountedReceiveQueue implements SharedReceiveQueue {

	private final int maxSegments;

	private final AtomicInteger users = new AtomicInteger();

	private final OpenState state = new OpenState("shared receive queue");

	/**
	 * Creates a queue that is open.
	 * @param maxSegments segments per receive at most
	 */
	protected CountedReceiveQueue(int maxSegments) {
		this.maxSegments = maxSegments;
	}

	/** Segments per receive at most. */
	public final int maxSegments() {
		return this.maxSegments;
	}

	/** A queue pair uses it. */
	public final void addUser() {
		this.users.incrementAndGet();
	}

	/** A queue pair uses it no more. */
	public final void removeUser() {
		this.users.decrementAndGet();
	}

	/** Checks that a request may be posted. */
	protected final void check(WorkRequest request) {
		if (request.opcode() != WorkOpcode.RECEIVE) {
			throw new VerbsException(VerbsError.INVALID_ARGUMENT,
					request.opcode() + " posted to a shared receive queue (expected: RECEIVE)");
		}
		this.state.check();
	}

	/** Gives back what it has; called once. */
	protected abstract void release();

	@Override
	public final void close() {
		int count = this.users.get();
		if (count > 0) {
			throw new VerbsException(VerbsError.BUSY, count + " queue pairs still use the shared receive queue");
		}
		if (this.state.tryClose()) {
			release();
		}
	}

}
