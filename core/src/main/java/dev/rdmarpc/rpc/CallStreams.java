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

import dev.rdmarpc.transport.IncomingMessage;
import dev.rdmarpc.transport.StreamReceiver;
import dev.rdmarpc.transport.StreamSender;

/** The streams of a call that is being served, of which there is at least one. */
final class CallStreams {

	private final @Nullable ServedStream replies;

	private final @Nullable RequestMessages messages;

	private CallStreams(@Nullable ServedStream replies, @Nullable RequestMessages messages) {
		this.replies = replies;
		this.messages = messages;
	}

	/** The streams that a request is for, or {@code null} if there are none; driver. */
	static @Nullable CallStreams of(ServerSession session, ServerCall call, ExportedMethod method,
			IncomingMessage request) {
		if (!request.streamed() && !request.followed()) {
			return null;
		}
		return new CallStreams(request.streamed() ? new ServedStream(session, call, method, request) : null,
				request.followed() ? new RequestMessages(session, call, method, request.requestId()) : null);
	}

	/** The messages that reply, or {@code null}. */
	@Nullable ServedStream replies() {
		return this.replies;
	}

	/** The messages that reply, if the handler has returned them already. */
	@Nullable ServedStream begunReplies() {
		ServedStream served = this.replies;
		return (served != null && served.isSubscribed()) ? served : null;
	}

	/** The messages that follow the request, or {@code null}. */
	@Nullable RequestMessages messages() {
		return this.messages;
	}

	@Nullable StreamSender sender() {
		return (this.replies != null) ? this.replies.sender() : null;
	}

	@Nullable StreamReceiver receiver() {
		return (this.messages != null) ? this.messages.receiver() : null;
	}

	/** As {@link #goesOn}, of a call that may have no streams. */
	static boolean goOn(@Nullable CallStreams streams) {
		return streams != null && streams.goesOn();
	}

	/** Goes on with the replies, if they have begun, and tells whether they have. */
	boolean goesOn() {
		ServedStream begun = begunReplies();
		if (begun != null) {
			begun.finishWork(false);
		}
		return begun != null;
	}

	/**
	 * The call ends; driver.
	 * @param then is run when all messages that reply are on their way, unless they are
	 * @return whether they are
	 */
	boolean end(Runnable then) {
		if (this.messages != null) {
			this.messages.end("the call has ended");
		}
		return this.replies == null || this.replies.sender().drain(then);
	}

	/** The caller has lost interest; driver. */
	void cancel() {
		if (this.replies != null) {
			this.replies.cancel();
		}
		if (this.messages != null) {
			this.messages.end("the caller has given the call up");
		}
	}

}
