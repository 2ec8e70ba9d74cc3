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

package dev.rdmarpc.boot;

/**
 * Takes the server of an application out of service, and back into it, while the
 * application goes on. Its bean is there if the application has a server.
 *
 * <p>
 * Thread-safe.
 */
public interface RdmaServerControl {

	/** What the server does at the moment. */
	State state();

	/**
	 * Begins to drain the server and returns: it accepts no connections and calls any
	 * more, finishes those that run, and stops. The application refuses traffic from now
	 * on, as its readiness says. Without effect unless the server is running.
	 */
	void drain();

	/**
	 * Puts the server back into service, and the application with it. Without effect if
	 * it is running.
	 * @throws IllegalStateException if it is still draining
	 */
	void resume();

	/** The states of a server. */
	enum State {

		/** It accepts connections and calls. */
		RUNNING,

		/** It accepts neither, but calls are still running. */
		DRAINING,

		/** It does nothing. */
		STOPPED

	}

}
