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

import java.util.function.IntSupplier;

/**
 * Makes the ends of the streams of a channel: messages that follow a request, and
 * messages that reply to it. Confined to the loop's driver, unless said otherwise.
 */
public final class ChannelStreams {

	private final StreamSender.Carrier sender;

	private final StreamReceiver.Carrier receiver;

	private final IntSupplier peerWindowBytes;

	private final int windowBytes;

	/**
	 * Creates the factory of a channel.
	 * @param peerWindowBytes as the peer has announced it, or 0
	 */
	ChannelStreams(StreamSender.Carrier sender, StreamReceiver.Carrier receiver, IntSupplier peerWindowBytes,
			int windowBytes) {
		this.sender = sender;
		this.receiver = receiver;
		this.peerWindowBytes = peerWindowBytes;
		this.windowBytes = windowBytes;
	}

	/** Whether the peer knows streams. Any thread that has seen the channel open. */
	public boolean areKnown() {
		return this.peerWindowBytes.getAsInt() > 0;
	}

	/** A request about to be prepared wants so many messages in reply. */
	public void begin(StreamReceiver replies, long first) {
		replies.begin(this.receiver, first);
	}

	/** The end to send replies by, of which the caller wants so many at first. */
	public StreamSender replySender(int requestId, int first, StreamSender.Listener listener) {
		return StreamSender.replying(this.sender, requestId, this.peerWindowBytes.getAsInt(), this.windowBytes, first,
				listener);
	}

	/**
	 * The end to send messages by that follow a request: what
	 * {@link PendingCall#streamSender()} returns when the request is prepared. It is to
	 * be told of the request's id, and to be closed if the request is not submitted. Any
	 * thread that has seen the channel open.
	 */
	public StreamSender requestSender(StreamSender.Listener listener) {
		return StreamSender.following(this.sender, this.peerWindowBytes.getAsInt(), this.windowBytes, listener);
	}

	/**
	 * The end to receive the messages by that follow a request, none of which is granted
	 * yet. It is to be closed when the call ends.
	 */
	public StreamReceiver requestReceiver(int requestId, StreamReceiver.Listener listener) {
		return StreamReceiver.following(this.receiver, requestId, this.windowBytes, listener);
	}

}
