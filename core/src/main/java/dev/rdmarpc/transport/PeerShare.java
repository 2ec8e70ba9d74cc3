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

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

import org.jspecify.annotations.Nullable;

/**
 * What one peer uses of what a listener grants it, over all its connections. The peer is
 * a principal, or all that have the same address. Thread-safe.
 *
 * <p>
 * Implementation notes. A share is known while there are connections, calls, replies or
 * messages of streams of it: a peer that leaves its calls behind finds them counted when
 * it comes back. Calls begin only while a connection is counted, and so do messages of
 * streams; replies are added while a call is or a connection. Of the ends of the last
 * call, the last message, the last reply and the last connection, the latest one sees all
 * counts at zero, and has the share forgotten. Replies added after that, for the end of a
 * connection that is over, are given back at once. Messages of streams are added by the
 * drivers of the connections, and taken off by whoever consumes them: a share that is
 * forgotten meanwhile, because its connection has made room for another one, is still the
 * one they are taken off. What is refused is taken off again, so that others may be
 * refused in between, but only such as would exceed the limit together with it.
 */
public final class PeerShare {

	private static final int MOST_NAME_CHARS = 64;

	private final String name;

	private final PrincipalLimits limits;

	private final PeerShares shares;

	private final AtomicInteger connections = new AtomicInteger();

	private final AtomicInteger calls = new AtomicInteger();

	private final AtomicLong requestBytes = new AtomicLong();

	private final PeerReplies replies;

	PeerShare(String name, PrincipalLimits limits, PeerShares shares) {
		this.name = name;
		this.limits = limits;
		this.shares = shares;
		this.replies = new PeerReplies(name, shares.maxReplyBytes(), this::forgetIfUnused);
	}

	/** The principal's name, or the address. */
	public String name() {
		return this.name;
	}

	/** A peer's name for messages: not the whole of a long one. */
	static String shortName(String name) {
		return "'" + ((name.length() > MOST_NAME_CHARS) ? name.substring(0, MOST_NAME_CHARS) + "..." : name) + "'";
	}

	/** Counts a connection unless there are too many. */
	boolean tryConnect() {
		if (this.connections.incrementAndGet() <= this.limits.maxConnections()) {
			return true;
		}
		this.connections.decrementAndGet();
		return false;
	}

	void disconnected() {
		this.connections.decrementAndGet();
	}

	boolean isUnused() {
		return this.connections.get() == 0 && this.calls.get() == 0 && this.requestBytes.get() == 0
				&& this.replies.isEmpty();
	}

	private void forgetIfUnused() {
		if (isUnused()) {
			this.shares.forgetUnused(this.name);
		}
	}

	/** What it has not taken yet. */
	PeerReplies replies() {
		return this.replies;
	}

	/**
	 * Counts a call, which has to {@link #end}, unless there are too many.
	 * @param bytes the size of its request
	 * @return the limit that has been reached, or {@code null} if the call may begin
	 */
	public @Nullable Limit tryBegin(int bytes) {
		if (this.calls.incrementAndGet() > this.limits.maxCalls()) {
			this.calls.decrementAndGet();
			return Limit.CALLS;
		}
		if (!tryAdd(bytes)) {
			this.calls.decrementAndGet();
			return Limit.REQUEST_BYTES;
		}
		return null;
	}

	private boolean tryAdd(int bytes) {
		long all = this.requestBytes.addAndGet(bytes);
		if (all > this.limits.maxRequestBytes() && all > bytes) {
			this.requestBytes.addAndGet(-bytes);
			return false;
		}
		return true;
	}

	/**
	 * Counts a message of a stream that is there and not consumed, beside the requests,
	 * until it is {@linkplain #consumed consumed}, unless there is too much; the only one
	 * never is.
	 * @param bytes what it holds
	 */
	boolean tryHold(int bytes) {
		if (tryAdd(bytes)) {
			return true;
		}
		forgetIfUnused();
		return false;
	}

	/** A message of a stream that was counted holds nothing any more. */
	void consumed(int bytes) {
		if (this.requestBytes.addAndGet(-bytes) == 0) {
			forgetIfUnused();
		}
	}

	/** What requests have, and messages of streams hold. */
	long requestBytes() {
		return this.requestBytes.get();
	}

	/** A call has ended. */
	public void end(int bytes) {
		this.requestBytes.addAndGet(-bytes);
		if (this.calls.decrementAndGet() == 0) {
			forgetIfUnused();
		}
	}

	/** Says to the caller, and to the log, which limit has been reached, and whose. */
	public String explain(Limit reached) {
		return switch (reached) {
			case CALLS -> "too many calls of " + shortName(this.name) + " (limit " + this.limits.maxCalls() + ")";
			case REQUEST_BYTES -> "too many bytes in requests of " + shortName(this.name) + " (limit "
					+ this.limits.maxRequestBytes() + ")";
			case REPLY_BYTES -> this.replies.explain();
		};
	}

	/** Says which limit a stream has reached, and whose. */
	String explainHeld() {
		return "too many bytes in messages of streams of " + shortName(this.name)
				+ " that have not been consumed, and in its requests (limit " + this.limits.maxRequestBytes() + ")";
	}

	/** Why a call is refused. */
	public enum Limit {

		/** There are as many calls of the peer as it may have. */
		CALLS,

		/**
		 * The requests of its calls, and the messages of their streams that have not been
		 * consumed, have as many bytes as they may have.
		 */
		REQUEST_BYTES,

		/** It has left as many bytes in replies as it may. */
		REPLY_BYTES

	}

}
