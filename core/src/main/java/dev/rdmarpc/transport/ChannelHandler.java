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

import java.nio.ByteBuffer;
import java.security.Principal;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.codec.ArrivingBytes;

/**
 * What the layer above does with the events of a channel. All methods are called while
 * holding the loop's driver role and must not block.
 */
public interface ChannelHandler {

	/**
	 * The name of the codec that this side writes and reads messages with, at most 100
	 * ASCII characters; the handshake fails if the peer names another one. Empty if any
	 * will do.
	 */
	default String codec() {
		return "";
	}

	/** Whether this side answers questions about the schemas of its methods. */
	default boolean tellsSchemas() {
		return false;
	}

	/** The handshake is done: calls may be started. */
	void onOpen(RpcChannel channel);

	/**
	 * The listening side has decided who the peer is; before the channel opens.
	 * @param share what the principal uses, in which calls are to be counted
	 */
	default void onAuthenticated(Principal principal, PeerShare share) {
	}

	/** The peer does not let this side in; before the channel closes. */
	default void onUnauthenticated(RpcChannel channel) {
	}

	/**
	 * A peer calls.
	 * @param request valid until this method returns, unless
	 * {@linkplain IncomingMessage#take() taken}
	 */
	void onRequest(RpcChannel channel, IncomingMessage request);

	/**
	 * A large request is arriving.
	 * @param head its fields; borrowed
	 * @param begun what is there of its message; borrowed
	 * @return what is to be filled while the rest arrives, owned by the caller
	 * @see dev.rdmarpc.codec.MessageFormat#foresee
	 */
	default @Nullable ArrivingBytes foresee(RpcChannel channel, IncomingMessage head, ByteBuffer begun) {
		return null;
	}

	/**
	 * A request arrived that is too large or for which there was no registered memory;
	 * its bytes were dropped.
	 * @param detail one sentence for the caller
	 */
	void onUnreadableRequest(RpcChannel channel, int requestId, String detail);

	/** A peer is not interested in the reply to a request any more. */
	void onCancel(RpcChannel channel, int requestId);

	/** Whether a request with this id is being served. */
	default boolean isServing(int requestId) {
		return false;
	}

	/** The code of the priority of a request that is being served. */
	default int priority(int requestId) {
		return RequestTemplate.NORMAL_PRIORITY;
	}

	/** The deadline of a request that is being served, or {@link DeadlineQueue#NONE}. */
	default long deadlineNanos(int requestId) {
		return DeadlineQueue.NONE;
	}

	/** The stream that replies to a request, or {@code null} if there is none. */
	default @Nullable StreamSender streamSender(int requestId) {
		return null;
	}

	/** The stream that follows a request, or {@code null} if there is none. */
	default @Nullable StreamReceiver streamReceiver(int requestId) {
		return null;
	}

	/** Time has passed; called several times a second while the channel is open. */
	default void onTick(RpcChannel channel, long nowNanos) {
	}

	/** The peer will take no new calls on this channel. */
	void onGoodbye(RpcChannel channel);

	/** The channel is closed; called once, also if it never opened. */
	void onClosed(RpcChannel channel, String reason);

}
