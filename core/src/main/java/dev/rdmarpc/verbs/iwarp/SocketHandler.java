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

package dev.rdmarpc.verbs.iwarp;

import java.io.Closeable;
import java.io.IOException;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Something with a socket on the connection thread. All methods are called there.
 */
abstract class SocketHandler {

	private static final Logger logger = LoggerFactory.getLogger(SocketHandler.class);

	private long deadlineNanos;

	private boolean finished;

	/**
	 * Creates a handler.
	 * @param deadlineNanos when {@link #timedOut()} is called unless it is finished
	 * before, on the clock of {@link System#nanoTime()}
	 */
	SocketHandler(long deadlineNanos) {
		this.deadlineNanos = deadlineNanos;
	}

	final long deadlineNanos() {
		return this.deadlineNanos;
	}

	/** Changes the deadline; with {@link ConnectionThread#postpone} only. */
	final void deadlineNanos(long deadlineNanos) {
		this.deadlineNanos = deadlineNanos;
	}

	/** Whether the handler is done with its socket. */
	final boolean isFinished() {
		return this.finished;
	}

	final void finish() {
		this.finished = true;
	}

	static void closeQuietly(@Nullable Closeable open) {
		try {
			if (open != null) {
				open.close();
			}
		}
		catch (IOException ex) {
			logger.debug("Cannot close {}", open, ex);
		}
	}

	/** The socket is ready for what the handler is interested in. */
	abstract void ready() throws IOException;

	/** What the socket's peer has to wait for has come further. */
	void progressed() {
	}

	/** The deadline has passed. */
	abstract void timedOut();

	/** Something failed, or the thread is being stopped. Closes the socket. */
	abstract void failed(Throwable cause);

}
