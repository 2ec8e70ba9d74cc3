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
final class ChannelCalls implements StreamFrames.Ends, OutgoingMessage.Owner {

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
			requestId = this.pending.add(call, message.deadlineNanos(), message.priority(), message.dueNanos());
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

	/** The class of a call. */
	int priority(int requestId) {
		return this.pending.priority(requestId);
	}

	/** The deadline of a call, or {@link DeadlineQueue#NONE}. */
	long dueNanos(int requestId) {
		return this.pending.dueNanos(requestId);
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

	@Override
	public boolean isKnown(int requestId) {
		return this.pending.contains(requestId);
	}

	@Override
	public @Nullable StreamReceiver receiver(int requestId) {
		PendingCall call = this.pending.find(requestId);
		return (call != null) ? call.streamReceiver() : null;
	}

	@Override
	public @Nullable StreamSender sender(int requestId) {
		PendingCall call = this.pending.find(requestId);
		return (call != null) ? call.streamSender() : null;
	}

	@Override
	public void threw(int requestId, Throwable failure) {
		this.loop.failures().report(this.channel, failure);
		lost(requestId, CallFailure.RESOURCE_EXHAUSTED,
				LoopFailures.reason("message could not be delivered: ", failure));
	}

	/** Gives up the call whose stream has lost a message. */
	@Override
	public void lost(int requestId, CallFailure why, String detail) {
		PendingCall call = this.pending.find(requestId);
		if (call != null) {
			abandon(call, why, detail);
		}
	}

	/** Only messages of streams are submitted to an owner. */
	@Override
	public boolean accept(OutgoingMessage message) {
		throw new IllegalStateException("a request is started");
	}

	/** Ends the call of a request that nobody replies to, if that was sent. */
	@Override
	public void gone(OutgoingMessage request) {
		PendingCall call = request.isSent() ? finish(request.requestId()) : null;
		if (call == null) {
			return;
		}
		try {
			call.onSent();
		}
		catch (Throwable ex) {
			this.loop.failures().report(this.channel, ex);
		}
		this.channel.closeIfDrained();
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
			if (closeSender(call)) {
				this.channel.sender().endFollowing(requestId);
			}
		}
		return call;
	}

	/** Lets no more messages follow a request, and tells whether any could. */
	private static boolean closeSender(PendingCall call) {
		StreamSender following = call.streamSender();
		if (following != null) {
			following.close();
		}
		return following != null;
	}

	/** Tells a call of its end; does not throw. */
	void fail(PendingCall call, CallFailure why, String detail) {
		try {
			closeSender(call);
			call.onFailure(why, detail);
		}
		catch (Throwable ex) {
			this.loop.failures().report(this.channel, ex);
		}
	}

	private void notSent(PendingCall call, OutgoingMessage request, String detail) {
		try {
			closeSender(call);
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
			closeSender(call);
			tellWait(call, this.channel.withdraw(call.requestId()));
		}
		finally {
			fail(call, why, detail);
		}
		this.channel.closeIfDrained();
	}

	/** Ends the calls of requests that were never sent. */
	void notSent(Iterable<OutgoingMessage> requests, String detail) {
		for (OutgoingMessage request : requests) {
			notSent(request, detail);
		}
	}

	/** Ends the call of a request that was never sent. */
	void notSent(OutgoingMessage request, String detail) {
		PendingCall call = finish(request.requestId());
		if (call != null) {
			notSent(call, request, detail);
		}
	}

	/** A request is on its way that could not be sent at once. */
	void waited(int requestId, long nanos) {
		PendingCall call = this.pending.find(requestId);
		if (call != null) {
			tellWait(call, nanos);
		}
	}

	private void tellWait(PendingCall call, long nanos) {
		if (nanos > 0) {
			try {
				call.onHeldBack(nanos);
			}
			catch (Throwable ex) {
				this.loop.failures().report(this.channel, ex);
			}
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
