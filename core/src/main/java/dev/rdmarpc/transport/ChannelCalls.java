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
 * The caller's side of a channel: starts calls, matches replies, gives calls up.
 *
 * <p>
 * Confined to the loop's driver. A call that was removed, or taken from its message, is
 * told in any case: nothing between the one and the other needs memory, and neither does
 * telling.
 */
final class ChannelCalls {

	private static final String FULL = "as many calls as allowed are outstanding on the connection already";

	private final RpcChannel channel;

	private final ChannelLoop loop;

	private final PendingCalls pending;

	ChannelCalls(RpcChannel channel, int maxCalls) {
		this.channel = channel;
		this.loop = channel.loop();
		this.pending = new PendingCalls(maxCalls);
	}

	/**
	 * Gives a request its id, or fails its call.
	 * @param refusal why no call can be started, or {@code null}
	 * @return whether the message may be sent
	 */
	boolean start(OutgoingMessage message, PendingCall call, @Nullable String refusal, int peerMaxCalls) {
		message.clearCall();
		if (refusal != null) {
			notSent(call, message, refusal);
			return false;
		}
		if (call.isDone()) {
			fail(call, CallFailure.CANCELLED, "cancelled before it was sent");
			return false;
		}
		if (this.pending.isFull() || this.pending.count() >= peerMaxCalls) {
			fail(call, CallFailure.RESOURCE_EXHAUSTED, FULL);
			return false;
		}
		int requestId;
		try {
			requestId = this.pending.add(call, message.deadlineNanos());
		}
		catch (Throwable ex) {
			fail(call, CallFailure.RESOURCE_EXHAUSTED, LoopFailures.reason(ex));
			return false;
		}
		this.loop.callStarted(message.deadlineNanos());
		call.onStarted(requestId);
		message.stamp(requestId);
		return true;
	}

	/** Whether somebody waits for a reply. */
	boolean expects(int requestId) {
		return this.pending.contains(requestId);
	}

	/** Ends the call that a reply belongs to, unless it was given up before. */
	void reply(IncomingMessage message) {
		PendingCall call = finish(message.requestId());
		if (call == null) {
			return;
		}
		try {
			call.onReply(message);
		}
		catch (Throwable ex) {
			this.loop.failures().report(this.channel, ex);
			if (!call.isDone()) {
				fail(call, CallFailure.MALFORMED_REPLY, LoopFailures.reason("reply could not be delivered: ", ex));
			}
		}
		this.channel.closeIfDrained();
	}

	/**
	 * A message of a stream has begun.
	 * @param whole whether all of it is there
	 * @return what rule that breaks, or {@code null}
	 */
	@Nullable String beginPart(IncomingMessage message, boolean whole) {
		PendingCall call = this.pending.find(message.requestId());
		if (call == null) {
			return null;
		}
		StreamReceiver stream = call.streamReceiver();
		return (stream != null) ? stream.begin(message.messageBytes(), whole) : "message of a call without stream";
	}

	/** Hands over a message of a stream, unless its call was given up before. */
	void part(IncomingMessage message) {
		PendingCall call = this.pending.find(message.requestId());
		StreamReceiver stream = (call != null) ? call.streamReceiver() : null;
		if (call == null || stream == null) {
			return;
		}
		try {
			stream.deliver(message);
		}
		catch (Throwable ex) {
			this.loop.failures().report(this.channel, ex);
			abandon(call, CallFailure.RESOURCE_EXHAUSTED, LoopFailures.reason("message could not be delivered: ", ex));
		}
	}

	/** Gives up the call whose stream has a message that is unreadable. */
	void unreadablePart(int requestId, CallFailure why, String detail) {
		PendingCall call = this.pending.find(requestId);
		if (call != null) {
			abandon(call, why, detail);
		}
	}

	/** Ends the call that an unreadable reply belongs to. */
	void unreadable(int requestId, CallFailure why, String detail) {
		PendingCall call = finish(requestId);
		if (call != null) {
			fail(call, why, detail);
			this.channel.closeIfDrained();
		}
	}

	private @Nullable PendingCall finish(int requestId) {
		PendingCall call = this.pending.remove(requestId);
		if (call != null) {
			this.loop.callFinished();
		}
		return call;
	}

	/** Tells a call of its end; does not throw. */
	void fail(PendingCall call, CallFailure why, String detail) {
		try {
			call.onFailure(why, detail);
		}
		catch (Throwable ex) {
			this.loop.failures().report(this.channel, ex);
		}
	}

	private void notSent(PendingCall call, OutgoingMessage request, String detail) {
		try {
			call.onNotSent(request, detail);
		}
		catch (Throwable ex) {
			this.loop.failures().report(this.channel, ex);
			if (!call.isDone()) {
				fail(call, CallFailure.NOT_SENT, detail);
			}
		}
	}

	/**
	 * Fails a call unless it is done, and tells the peer. A call that is not pending here
	 * is left alone: it may have been told already, and be in use for the next request.
	 */
	void abandon(PendingCall call, CallFailure why, String detail) {
		if (this.pending.remove(call)) {
			giveUp(call, why, detail);
		}
	}

	/** Fails the calls whose deadline has passed. */
	void expire(long now) {
		for (PendingCall call = this.pending.removeExpired(now); call != null; call = this.pending.removeExpired(now)) {
			giveUp(call, CallFailure.DEADLINE_EXCEEDED, "no reply within the deadline");
		}
	}

	private void giveUp(PendingCall call, CallFailure why, String detail) {
		this.loop.callFinished();
		try {
			this.channel.withdraw(call.requestId());
		}
		finally {
			fail(call, why, detail);
		}
		this.channel.closeIfDrained();
	}

	/** Ends the call of a request that was never sent. */
	void notSent(OutgoingMessage request, String detail) {
		PendingCall call = finish(request.requestId());
		if (call != null) {
			notSent(call, request, detail);
		}
	}

	/** Fails all calls. */
	void failAll(CallFailure why, String detail) {
		for (PendingCall call = this.pending.removeAny(); call != null; call = this.pending.removeAny()) {
			this.loop.callFinished();
			fail(call, why, detail);
		}
	}

	/** Calls that wait for a reply; any thread may ask. */
	int outstanding() {
		return this.pending.count();
	}

	boolean isEmpty() {
		return this.pending.count() == 0;
	}

	boolean anyDeadlineBefore(long nanos) {
		return this.pending.anyDeadlineBefore(nanos);
	}

}
