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

package dev.rdmarpc.transport;

import org.jspecify.annotations.Nullable;

/**
 * A call that waits for its reply. Exactly one of {@link #onReply}, {@link #onFailure},
 * {@link #onNotSent} and {@link #onSent} is called, once, while holding the loop's driver
 * role; none may block or throw. {@link #onFailure} needs no memory.
 */
public interface PendingCall {

	/** The call got its request id and is about to be sent. */
	void onStarted(int requestId);

	/** The request id given to {@link #onStarted}. */
	int requestId();

	/**
	 * The request had to wait, for credits or for room in the send queue, and does not
	 * any more. In addition to the end of the call, before it; not called if the
	 * connection ends first. May throw nothing either.
	 */
	default void onHeldBack(long nanos) {
	}

	/**
	 * The reply is there.
	 * @param reply valid until this method returns, unless
	 * {@linkplain IncomingMessage#take() taken}
	 */
	void onReply(IncomingMessage reply);

	/**
	 * There will be no reply.
	 * @param detail one sentence for the caller
	 */
	void onFailure(CallFailure failure, String detail);

	/**
	 * The request was not sent, in place of {@link #onFailure} with
	 * {@link CallFailure#NOT_SENT}.
	 * @param request what would have been sent; borrowed
	 */
	default void onNotSent(OutgoingMessage request, String detail) {
		onFailure(CallFailure.NOT_SENT, detail);
	}

	/**
	 * Whether it does not wait for a reply but for {@link #onSent}, if the peer knows
	 * such calls.
	 */
	default boolean isOneWay() {
		return false;
	}

	/**
	 * The request was sent, and what it refers to is not needed any more: the end of a
	 * call that {@linkplain #isOneWay() waits for that}. In place of the other ends.
	 */
	default void onSent() {
		throw new IllegalStateException("a call that waits for its reply");
	}

	/**
	 * Whether the thread that prepares the request waits for the call in any case, and so
	 * rather for memory than in vain.
	 */
	default boolean isBlocking() {
		return false;
	}

	/** The end of the stream that comes before the reply, or {@code null} for none. */
	default @Nullable StreamReceiver streamReceiver() {
		return null;
	}

	/**
	 * The end of the stream that follows the request, or {@code null} for none. The
	 * channel closes it when the call ends.
	 */
	default @Nullable StreamSender streamSender() {
		return null;
	}

	/**
	 * Whether the reply or failure is there. Readable from any thread; what was stored
	 * before it became true is visible to whoever sees it true.
	 */
	boolean isDone();

}
