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

package dev.rdmarpc.grpc;

import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;

/**
 * How long a call of a server counts: until its handler has answered it. One that ends in
 * another way, as its caller may have it end, counts until no callback of the handler
 * runs or waits to run: who calls and cancels over and over would have any number of
 * handlers run otherwise.
 *
 * <p>
 * Thread-safe.
 *
 * <p>
 * Implementation notes. Such a call has to end and its handler to return. Each of the two
 * says that it has happened and then asks for the other, so that the later one gives the
 * place back, or both, of which one is first.
 */
abstract class CountedCall {

	private static final AtomicIntegerFieldUpdater<CountedCall> UNCOUNTED = AtomicIntegerFieldUpdater
		.newUpdater(CountedCall.class, "uncounted");

	/** 1 when it counts no more. */
	@SuppressWarnings("UnusedVariable") // changed by its updater
	private volatile int uncounted;

	private volatile boolean givenUp;

	private volatile boolean left;

	private volatile boolean handling;

	private volatile boolean handled;

	/** The handler is about to be called. */
	final void handling() {
		this.handling = true;
	}

	/** Whether the handler has been called. */
	final boolean isHandling() {
		return this.handling;
	}

	/** The handler runs no more, and will not. */
	final void handled() {
		this.handled = true;
		if (this.left) {
			countNoMore();
		}
	}

	/** What the call is answered with is not the handler's answer. */
	final void giveUp() {
		this.givenUp = true;
	}

	/** The call has ended, but perhaps not its handler. */
	final void leave() {
		this.left = true;
		if (this.handled) {
			countNoMore();
		}
	}

	/** The call has ended with a reply. */
	final void answered() {
		if (this.givenUp) {
			leave();
		}
		else {
			countNoMore();
		}
	}

	private void countNoMore() {
		if (UNCOUNTED.compareAndSet(this, 0, 1)) {
			uncount();
		}
	}

	/** It counts no more; called once. */
	abstract void uncount();

}
