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

import dev.rdmarpc.verbs.QueuePair;
import dev.rdmarpc.verbs.QueuePairListener;
import dev.rdmarpc.verbs.QueuePairOptions;
import dev.rdmarpc.verbs.QueuePairState;
import dev.rdmarpc.verbs.VerbsError;
import dev.rdmarpc.verbs.VerbsException;
import dev.rdmarpc.verbs.WorkOpcode;
import dev.rdmarpc.verbs.WorkRequest;

/** A queue pair that checks what is posted. */
public abstract class CheckedQueuePair implements QueuePair {

	private final int number;

	private final QueuePairOptions options;

	/** Creates a queue pair with a number of {@link QueuePairNumbers}. */
	protected CheckedQueuePair(int number, QueuePairOptions options) {
		this.number = number;
		this.options = options;
	}

	@Override
	public final int number() {
		return this.number;
	}

	@Override
	public final QueuePairListener listener() {
		return this.options.listener();
	}

	/** What it was created with. */
	protected final QueuePairOptions options() {
		return this.options;
	}

	/** Checks that a request is one for the send queue. */
	protected final void checkSend(WorkRequest request) {
		if (request.opcode() == WorkOpcode.RECEIVE) {
			throw new VerbsException(VerbsError.INVALID_ARGUMENT, "receive posted to the send queue of " + this);
		}
	}

	/** Checks that a request is one for the queue pair's own receive queue. */
	protected final void checkReceive(WorkRequest request) {
		if (request.opcode() != WorkOpcode.RECEIVE) {
			throw new VerbsException(VerbsError.INVALID_ARGUMENT,
					request.opcode() + " posted to the receive queue of " + this);
		}
		if (this.options.sharedReceiveQueue() != null) {
			throw new VerbsException(VerbsError.INVALID_ARGUMENT, this + " uses a shared receive queue");
		}
	}

	/** The state, in which receives may be posted. */
	protected final QueuePairState checkOpen() {
		QueuePairState current = state();
		if (current == QueuePairState.CLOSED) {
			throw new VerbsException(VerbsError.CLOSED, this + " is closed");
		}
		return current;
	}

	/** The state, in which work may be posted to the send queue. */
	protected final QueuePairState checkConnected() {
		QueuePairState current = checkOpen();
		if (current == QueuePairState.INITIALIZED || current == QueuePairState.CONNECTING) {
			throw new VerbsException(VerbsError.INVALID_STATE, this + " is not connected, its state is " + current);
		}
		return current;
	}

	@Override
	public final String toString() {
		return "queue pair " + this.number;
	}

}
