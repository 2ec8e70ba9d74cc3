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

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Predicate;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.memory.MemoryAttachment;
import dev.rdmarpc.memory.RegisteredBuffer;
import dev.rdmarpc.verbs.PostResult;
import dev.rdmarpc.verbs.QueuePair;
import dev.rdmarpc.verbs.WorkRequest;

/**
 * What a channel has to send: control frames first, then messages, the more urgent ones
 * first and one frame of each in turn so that a small message does not wait for a large
 * one.
 *
 * <p>
 * Implementation notes: a peer that keeps calling but grants nothing for the replies
 * would fill memory with them. So the side that serves grants no more by frames of their
 * own once a window of replies waits; credits then go with the replies. This cannot stop
 * two honest sides: the one that calls always grants half of its window, for which it
 * keeps a credit, and that much lets replies go that carry all that is owed. If both
 * sides held back they could wait for each other.
 *
 * <p>
 * A Send completes silently if another one is about to be posted behind it, whose
 * completion then stands for both, and is not held back by the {@link SendWindow}. If the
 * send queue is full first, and the next turn holds it back, the completion waits for an
 * answer or the next tick. At most {@link #MOST_SILENT} in a row do: in a send queue that
 * is full there is always one that says when there is room.
 *
 * <p>
 * Messages that share a Send stay in their order until it is posted, and are given back
 * then, since it has a copy of them.
 *
 * <p>
 * Confined to the loop's driver. Owns the messages in it: waiting ones until posted,
 * posted ones until their Sends complete.
 */
final class OutboundQueue {

	/** Fewer than any send queue has room for. */
	private static final int MOST_SILENT = ChannelOptions.MIN_CREDITS - 1;

	/** What {@link #removeUnposted} returns where nothing was waiting. */
	static final long NOT_WAITING = -1;

	private static final Consumer<OutgoingMessage> TRUNCATE = OutgoingMessage::truncate;

	private final MemoryAttachment attachment;

	private final LoopMetrics metrics;

	private final OutgoingMessagePool messages;

	private final CreditLedger credits;

	private final int maxBacklog;

	private final Consumer<OutgoingMessage> exposed;

	private final Waited waited;

	private final WorkRequest request = new WorkRequest(1);

	private final ArrayDeque<OutgoingMessage> control = new ArrayDeque<>();

	private final OrderedMessages data;

	private final FrameBundle bundle;

	private final SendWindow window;

	private final ArrayDeque<OutgoingMessage> inFlight = new ArrayDeque<>();

	/** The Send of several messages that is being posted, or has perhaps been. */
	private @Nullable OutgoingMessage posting;

	/** The answer that waits to be posted. */
	private @Nullable OutgoingMessage pong;

	/** Whether data was added that was not tried to be posted yet. */
	private boolean untried;

	/** How many Sends were posted: the id of the next one. */
	private long posted;

	/** How many of them have ended. */
	private long ended;

	private int silent;

	/** The most urgent class of which a whole message was posted in a frame, or -1. */
	private int postedWhole = -1;

	/**
	 * Creates a queue.
	 * @param maxBacklog messages that may wait for credits before the peer is granted
	 * none by frames of their own
	 * @param exposed is told when a message can be Read by the peer
	 * @param waited is told for how long requests have waited that could not be posted at
	 * once
	 */
	OutboundQueue(MemoryAttachment attachment, LoopMetrics metrics, OutgoingMessagePool messages, CreditLedger credits,
			SendWindow window, int maxBacklog, Consumer<OutgoingMessage> exposed, Waited waited) {
		this.attachment = attachment;
		this.metrics = metrics;
		this.data = new OrderedMessages(metrics);
		this.bundle = new FrameBundle(this.data);
		this.messages = messages;
		this.credits = credits;
		this.window = window;
		this.maxBacklog = maxBacklog;
		this.exposed = exposed;
		this.waited = waited;
	}

	void addControl(OutgoingMessage message) {
		this.control.add(message);
		this.pong = (message.controlType() == FrameType.PONG) ? message : this.pong;
	}

	void addData(OutgoingMessage message) {
		this.data.add(message);
		this.untried = true;
	}

	/** The peer takes several frames in one Send, of so many bytes together. */
	void bundleUpTo(int bytes) {
		this.bundle.upTo(bytes);
	}

	boolean hasWaiting() {
		return !this.control.isEmpty() || !this.data.isEmpty();
	}

	/** Whether another control frame could be posted at once. */
	boolean mayPostControl() {
		return this.control.isEmpty() && this.credits.maySendControl();
	}

	/**
	 * Whether an answer to a question waits already, which answers all.
	 * @param question the last number of one
	 */
	boolean answersAlso(int question) {
		OutgoingMessage waiting = this.pong;
		if (waiting != null) {
			FrameFlyweight.putRequestId(waiting.memory().buffer(), question);
		}
		return waiting != null;
	}

	/** Whether something waits for the peer to grant credits. */
	boolean isStarved() {
		return this.control.isEmpty() ? !this.data.isEmpty() && !this.credits.maySendData()
				: !this.credits.maySendControl();
	}

	private boolean hasWaitingCredits() {
		OutgoingMessage first = this.control.peek();
		return first != null && first.controlType() == FrameType.CREDIT;
	}

	private boolean isBacklogged() {
		return this.data.size() >= this.maxBacklog && !this.credits.maySendData();
	}

	/** Whether more than control frames waits, or was posted and has not completed. */
	boolean hasData() {
		if (!this.data.isEmpty()) {
			return true;
		}
		for (OutgoingMessage message : this.inFlight) {
			if (!message.isControl()) {
				return true;
			}
		}
		return false;
	}

	boolean isEmpty() {
		return this.inFlight.isEmpty() && !hasWaiting();
	}

	/**
	 * Posts as much as credits and the send queue allow, and then a frame that grants
	 * credits if they should not wait for one to ride on. It goes before other control
	 * frames, which may have to wait for the very credits the peer cannot grant until it
	 * has these.
	 * @param handshaking whether only the handshake, which needs no credit, may be sent
	 * @return whether anything was posted
	 */
	boolean post(QueuePair pair, boolean handshaking, long nowNanos) {
		this.window.turn(nowNanos);
		boolean any = postWaiting(pair, handshaking);
		if (!handshaking && this.credits.shouldSendCredits() && !hasWaitingCredits() && !isBacklogged()) {
			OutgoingMessage grant = this.messages.control(FrameType.CREDIT, 0, 0);
			if (grant != null) {
				this.metrics.creditFrame();
				this.control.addFirst(grant);
				any |= postWaiting(pair, false);
			}
		}
		if (this.untried) {
			this.untried = false;
			if (!this.data.isEmpty()) {
				holdBack(System.nanoTime());
			}
		}
		return any;
	}

	/**
	 * Notes when those messages began to wait that were added last: what was not posted
	 * stays in its order.
	 */
	private void holdBack(long nowNanos) {
		this.data.fromLast((message) -> {
			if (message.isUnposted()) {
				if (message.since() != 0) {
					return false;
				}
				message.since(nowNanos);
				this.metrics.queued(message.priority());
			}
			return true;
		});
	}

	/**
	 * Counts how long a message has waited that does not any more.
	 * @param since when it was held back, or 0
	 * @return for how many nanoseconds
	 */
	private long endWait(OutgoingMessage message, long since) {
		if (since == 0) {
			return 0;
		}
		if (!message.isExposed()) {
			message.since(0);
		}
		long nanos = System.nanoTime() - since;
		this.metrics.waited(message.priority(), nanos);
		return nanos;
	}

	/** The same for one that is on its way; whoever waits for it may do anything then. */
	private void tellWait(OutgoingMessage message, long since) {
		long nanos = endWait(message, since);
		if (nanos > 0 && message.isRequest()) {
			this.waited.accept(message.requestId(), nanos);
		}
	}

	private boolean postWaiting(QueuePair pair, boolean handshaking) {
		boolean any = false;
		for (OutgoingMessage next = next(handshaking); next != null; next = next(handshaking)) {
			boolean data = !next.isControl();
			int priority = next.priority();
			OutgoingMessage together = this.bundle.select(next) ? this.messages.bundle(this.bundle.bytes()) : null;
			if (!((together != null) ? postBundle(pair, together) : postAlone(pair, next))) {
				return any;
			}
			any = true;
			if (data && this.window.shouldAsk(priority)) {
				ask();
			}
		}
		return any;
	}

	/** Asks the peer when it has all that was posted so far. */
	private void ask() {
		OutgoingMessage ping = this.messages.control(FrameType.PING, this.window.nextQuestion(), 0);
		if (ping != null) {
			this.control.add(ping);
			this.window.asking();
		}
	}

	/**
	 * Posts the next frame of a message.
	 * @return whether there was room for it
	 */
	private boolean postAlone(QueuePair pair, OutgoingMessage message) {
		long since = message.since();
		if (!postFrame(pair, message, hasMoreThan(message))) {
			return false;
		}
		if (message.isControl()) {
			this.control.remove();
			this.pong = (message == this.pong) ? null : this.pong;
		}
		else {
			this.data.remove(message);
			if (!message.isPosted()) {
				this.data.addRest(message);
			}
		}
		tellWait(message, since);
		return true;
	}

	/**
	 * Posts the messages that were selected together.
	 * @param send takes ownership
	 * @return whether there was room for it
	 */
	private boolean postBundle(QueuePair pair, OutgoingMessage send) {
		this.posting = send;
		this.bundle.fill(send);
		boolean posted;
		try {
			posted = postFrame(pair, send, this.data.size() > this.bundle.count());
		}
		catch (Throwable ex) {
			this.bundle.perhapsPosted();
			throw ex;
		}
		this.posting = null;
		if (!posted) {
			send.abort();
			return false;
		}
		this.metrics.bundled(this.bundle.count(), this.bundle.bytes());
		for (int i = 0; i < this.bundle.count(); i++) {
			this.data.remove(this.bundle.get(i));
			this.bundle.get(i).framePosted();
		}
		for (int i = 0; i < this.bundle.count(); i++) {
			OutgoingMessage message = this.bundle.get(i);
			tellWait(message, message.since());
			message.frameCompleted();
		}
		return true;
	}

	private @Nullable OutgoingMessage next(boolean handshaking) {
		OutgoingMessage first = this.control.peek();
		if (first != null) {
			boolean allowed = switch (first.controlType()) {
				case FrameType.HELLO, FrameType.HELLO_REPLY -> true;
				case FrameType.CREDIT -> this.credits.maySendCredits();
				default -> !handshaking && this.credits.maySendControl();
			};
			return allowed ? first : null;
		}
		if (handshaking || this.data.isEmpty()) {
			return null;
		}
		if (!this.credits.maySendData()) {
			this.credits.heldBack();
			return null;
		}
		OutgoingMessage next = this.data.peek();
		boolean held = next != null && this.window.holdsBack(next.priority()) && !this.data.hasAbove(next.priority());
		return held ? null : next;
	}

	/** The peer has answered: it has what was posted before it was asked. */
	void answered(int question, long nowNanos) {
		this.window.answered(question, nowNanos);
	}

	/**
	 * Posts the next frame of a message.
	 * @param more whether data waits behind it
	 */
	private boolean postFrame(QueuePair pair, OutgoingMessage message, boolean more) {
		RegisteredBuffer buffer = message.memory();
		this.request.send(this.posted);
		this.request.addSegment(buffer.region(this.attachment), buffer.regionOffset() + message.nextFrameOffset(),
				message.nextFrameLength());
		boolean counted = message.controlType() != FrameType.HELLO && message.controlType() != FrameType.HELLO_REPLY;
		int granted = counted ? this.credits.spend() : 0;
		message.grant(granted, counted && this.credits.isHeldBack(more));
		boolean silently = more && this.silent < MOST_SILENT && !message.isControl() && this.control.isEmpty()
				&& this.credits.maySendData() && !this.window.isFullWith(message.nextFrameLength());
		if (silently) {
			this.request.unsignaled();
		}
		if (granted > 0) {
			pair.allowReceives(granted);
		}
		if (!post(pair, message)) {
			if (counted) {
				this.credits.refund(granted);
				pair.allowReceives(-granted);
			}
			return false;
		}
		this.posted++;
		this.silent = silently ? this.silent + 1 : 0;
		this.credits.sent();
		if (!message.isControl()) {
			this.window.sent(message.priority(), message.nextFrameLength());
		}
		this.metrics.sent(message.nextFrameLength());
		boolean first = message.isUnposted();
		message.framePosted();
		if (message.isExposed()) {
			this.exposed.accept(message);
		}
		else if (first && message.isPosted() && !message.isControl()) {
			this.postedWhole = Math.max(this.postedWhole, message.priority());
		}
		return true;
	}

	/** Room for the message in flight comes first: what is posted is never forgotten. */
	private boolean post(QueuePair pair, OutgoingMessage message) {
		this.inFlight.add(message);
		boolean posted = false;
		try {
			posted = pair.postSend(this.request) == PostResult.POSTED;
		}
		catch (Throwable ex) {
			message.perhapsPosted();
			throw ex;
		}
		finally {
			if (!posted) {
				this.inFlight.removeLast();
			}
		}
		return posted;
	}

	/** Whether data waits behind the next frame of a message. */
	private boolean hasMoreThan(OutgoingMessage message) {
		return message.isControl() ? !this.data.isEmpty() : this.data.size() > 1 || message.hasMoreThanOneFrame();
	}

	/**
	 * Returns the most urgent class of which a whole message was posted in a frame since
	 * the last time, or -1.
	 */
	int takePostedWhole() {
		int priority = this.postedWhole;
		this.postedWhole = -1;
		return priority;
	}

	/**
	 * A Send has completed or was flushed, and those before it have completed. Whoever
	 * waits for one that was flushed has it as not sent.
	 */
	void completed(boolean success, long id) {
		for (; this.ended <= id; this.ended++) {
			OutgoingMessage message = this.inFlight.poll();
			if (message != null) {
				if (!success && this.ended == id) {
					message.withdrawn(message.exposedUntil());
				}
				message.frameCompleted();
			}
		}
	}

	/**
	 * Removes a request of which no frame was posted yet.
	 * @return for how many nanoseconds it has waited, or {@link #NOT_WAITING} if there
	 * was none
	 */
	long removeUnposted(int requestId) {
		OutgoingMessage message = this.data.removeFirst(
				(waiting) -> waiting.requestId() == requestId && waiting.isRequest() && waiting.nextFrameOffset() == 0);
		if (message == null) {
			return NOT_WAITING;
		}
		long nanos = endWait(message, message.since());
		message.recycle();
		return nanos;
	}

	/**
	 * Removes what follows a request and of which no frame was posted yet.
	 * @return whether something is left that was posted in part
	 */
	boolean removeFollowing(int requestId) {
		Predicate<OutgoingMessage> follows = (waiting) -> waiting.requestId() == requestId && !waiting.isRequest();
		this.data.removeAll(follows.and(OutgoingMessage::isUnposted), OutgoingMessage::recycle);
		return this.data.contains(follows);
	}

	/** The requests of which no frame was posted yet; they stay here. */
	List<OutgoingMessage> unpostedRequests() {
		List<OutgoingMessage> requests = new ArrayList<>();
		this.data.forEach((message) -> {
			if (message.isRequest() && message.isUnposted()) {
				requests.add(message);
			}
		});
		return requests;
	}

	/** Removes what is left of a request posted in part, and what follows it. */
	void removeRest(int requestId) {
		this.data.removeAll((waiting) -> waiting.requestId() == requestId, OutgoingMessage::truncate);
	}

	/** Gives back what waits, also the rest of messages posted in part. */
	void dropUnposted() {
		for (OutgoingMessage message = this.control.poll(); message != null; message = this.control.poll()) {
			message.truncate();
		}
		this.pong = null;
		OutgoingMessage perhapsPosted = this.posting;
		if (perhapsPosted != null) {
			this.posting = null;
			perhapsPosted.abort();
		}
		this.data.drain(TRUNCATE);
	}

	/** Gives back what was posted; the queue pair is closed already. */
	void dropPosted() {
		for (OutgoingMessage message = this.inFlight.poll(); message != null; message = this.inFlight.poll()) {
			message.frameCompleted();
		}
	}

	/** Hears of requests that have waited. */
	interface Waited {

		/**
		 * A request could not be posted at once, and is now.
		 * @param requestId of its call
		 */
		void accept(int requestId, long nanos);

	}

}
