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

/** The codes of frame types on the wire. */
final class FrameType {

	/** First frame of a connection, from the side that connected. */
	static final int HELLO = 1;

	/** Answer to {@link #HELLO}. */
	static final int HELLO_REPLY = 2;

	/** First or only frame of a request. */
	static final int REQUEST = 3;

	/** First or only frame of a reply. */
	static final int REPLY = 4;

	/** Further frame of a request or reply. */
	static final int CONTINUATION = 5;

	/**
	 * The caller is not interested in a reply any more, and sends no more frames of the
	 * call; the side that serves wants no more messages of the caller's stream.
	 */
	static final int CANCEL = 6;

	/** Carries nothing but credits. */
	static final int CREDIT = 7;

	/** Asks whether the peer is alive. */
	static final int PING = 8;

	/** Answer to {@link #PING}. */
	static final int PONG = 9;

	/** No new calls any more; what is outstanding is finished. */
	static final int GOODBYE = 10;

	/** The receiver of a message that is Read needs its sender's memory no more. */
	static final int READ_DONE = 11;

	/** Gives back the credit that it uses. */
	static final int RETURN = 12;

	/** The receiver of a message that is Read says how much of it it has. */
	static final int READ_PROGRESS = 13;

	/** First or only frame of a message of a stream. */
	static final int MESSAGE = 14;

	/** The receiver of a stream grants messages and bytes. */
	static final int DEMAND = 15;

	/** The caller has sent all messages of its stream. */
	static final int END = 16;

	/** What the side that serves says before the first message of its stream. */
	static final int METADATA = 17;

	private FrameType() {
	}

	static String name(int type) {
		return switch (type) {
			case HELLO -> "HELLO";
			case HELLO_REPLY -> "HELLO_REPLY";
			case REQUEST -> "REQUEST";
			case REPLY -> "REPLY";
			case CONTINUATION -> "CONTINUATION";
			case CANCEL -> "CANCEL";
			case CREDIT -> "CREDIT";
			case PING -> "PING";
			case PONG -> "PONG";
			case GOODBYE -> "GOODBYE";
			case READ_DONE -> "READ_DONE";
			case RETURN -> "RETURN";
			case READ_PROGRESS -> "READ_PROGRESS";
			case MESSAGE -> "MESSAGE";
			case DEMAND -> "DEMAND";
			case END -> "END";
			case METADATA -> "METADATA";
			default -> "unknown type " + type;
		};
	}

}
