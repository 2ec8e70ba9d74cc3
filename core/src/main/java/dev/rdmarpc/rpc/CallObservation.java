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

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.transport.RpcChannel;

/**
 * A {@link CallObserver}'s observation of one call. Whatever its methods throw is logged
 * and has no other effect.
 */
public interface CallObservation {

	/**
	 * Opens a scope around the handler, or around the sending of a request, on the thread
	 * that runs it. On the server, another one is opened when a failure is logged.
	 */
	Scope openScope();

	/**
	 * The request goes out over a channel, which the observation must not keep. Called on
	 * the client, again for each attempt of a call that is repeated, on any thread; not
	 * called if there was no connection.
	 */
	default void requestSent(RpcChannel channel) {
	}

	/**
	 * The request could not be sent at once, for want of credits or of room in the send
	 * queue, and has waited. Called on the client, between {@link #requestSent} and
	 * {@link #callEnded}, on any thread; not called for a request that did not wait.
	 */
	default void requestHeldBack(long nanos) {
	}

	/**
	 * The call has ended. Called once, on any thread.
	 * @param error why it failed, or {@code null}
	 */
	void callEnded(RpcStatus status, @Nullable Throwable error);

	/** A scope that is open on a thread. */
	@FunctionalInterface
	interface Scope extends AutoCloseable {

		/** Of observations that need none. */
		Scope NONE = () -> {
		};

		@Override
		void close();

	}

}
