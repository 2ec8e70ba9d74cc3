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

import org.jspecify.annotations.Nullable;

/**
 * What the frames of streams mean. Frames of a call that is not known, because it has
 * ended, are ignored; what breaks a rule of a stream is returned as a text.
 *
 * <p>
 * Confined to the loop's driver.
 */
final class StreamFrames {

	private final Ends ends;

	private final boolean caller;

	private final int maxMetadataBytes;

	/**
	 * Creates the meaning.
	 * @param caller whether this side calls, and does not serve
	 */
	StreamFrames(Ends ends, boolean caller, int maxMetadataBytes) {
		this.ends = ends;
		this.caller = caller;
		this.maxMetadataBytes = maxMetadataBytes;
	}

	/** Whether somebody waits for messages. */
	boolean expects(int requestId) {
		return this.ends.receiver(requestId) != null;
	}

	/**
	 * A message has begun.
	 * @param whole whether all of it is there
	 */
	@Nullable String begin(IncomingMessage message, boolean whole) {
		if (this.caller && message.isLast()) {
			return "last message from the side that serves";
		}
		StreamReceiver stream = this.ends.receiver(message.requestId());
		if (stream == null) {
			return without("message", message.requestId());
		}
		if (!message.isPack()) {
			return stream.begin(message.messageBytes(), whole, message.isLast());
		}
		return whole ? stream.begin(message.message(), message.isLast())
				: "several messages of " + message.messageBytes() + " bytes that are not in one frame";
	}

	private @Nullable String without(String what, int requestId) {
		return this.ends.isKnown(requestId) ? what + " of a call without stream" : null;
	}

	/** Hands over a message. */
	void deliver(IncomingMessage message) {
		StreamReceiver stream = this.ends.receiver(message.requestId());
		if (stream == null) {
			return;
		}
		try {
			stream.deliver(message);
		}
		catch (Throwable ex) {
			this.ends.threw(message.requestId(), ex);
		}
	}

	/** A message cannot be delivered. */
	void lost(int requestId, CallFailure why, String detail) {
		this.ends.lost(requestId, why, detail);
	}

	/** The receiver of a stream has granted more. */
	@Nullable String demand(ByteBuffer frame) {
		int requestId = FrameFlyweight.requestId(frame);
		StreamSender stream = this.ends.sender(requestId);
		if (stream == null) {
			return without("demand", requestId);
		}
		return stream.demand(FrameFlyweight.messageBytes(frame), FrameFlyweight.offsetBytes(frame));
	}

	/** The caller sends no more messages. */
	@Nullable String end(int requestId) {
		if (this.caller) {
			return "end from the side that serves";
		}
		StreamReceiver stream = this.ends.receiver(requestId);
		if (stream == null) {
			return without("end", requestId);
		}
		try {
			return stream.end();
		}
		catch (Throwable ex) {
			this.ends.threw(requestId, ex);
			return null;
		}
	}

	/** The side that serves wants no more messages. */
	void stop(int requestId) {
		StreamSender stream = this.ends.sender(requestId);
		try {
			if (stream != null) {
				stream.stop();
			}
		}
		catch (Throwable ex) {
			this.ends.threw(requestId, ex);
		}
	}

	/** What the side that serves says before its first message. */
	@Nullable String metadata(ByteBuffer frame, int length) {
		int bytes = FrameFlyweight.messageBytes(frame);
		if (!this.caller || bytes != length - FrameFlyweight.HEADER_LENGTH || bytes > this.maxMetadataBytes) {
			return "metadata of " + bytes + " bytes in a frame of " + length + (this.caller
					? " bytes (expected: at most " + this.maxMetadataBytes + ")" : " bytes from the side that calls");
		}
		int requestId = FrameFlyweight.requestId(frame);
		StreamReceiver stream = this.ends.receiver(requestId);
		if (stream == null) {
			return without("metadata", requestId);
		}
		try {
			return stream.metadata(frame.position(FrameFlyweight.HEADER_LENGTH).limit(length));
		}
		catch (Throwable ex) {
			this.ends.threw(requestId, ex);
			return null;
		}
	}

	/** The ends of streams on one side. */
	interface Ends {

		/** Whether a call with this id is under way. */
		boolean isKnown(int requestId);

		/** The end of a call by which messages are received, or {@code null}. */
		@Nullable StreamReceiver receiver(int requestId);

		/** The end of a call by which messages are sent, or {@code null}. */
		@Nullable StreamSender sender(int requestId);

		/** A stream's user has thrown, which ends the call. */
		void threw(int requestId, Throwable failure);

		/** A message of a stream cannot be delivered, which ends the call. */
		void lost(int requestId, CallFailure why, String detail);

	}

}
