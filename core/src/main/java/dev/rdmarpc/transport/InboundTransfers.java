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
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.memory.MemoryAttachment;
import dev.rdmarpc.memory.RegisteredBuffer;
import dev.rdmarpc.memory.RegisteredMemory;
import dev.rdmarpc.verbs.PostResult;
import dev.rdmarpc.verbs.QueuePair;
import dev.rdmarpc.verbs.WorkRequest;

/**
 * The large messages of a channel that are being fetched by Reads. Several Reads are
 * under way at once, up to the read depth of the connection.
 *
 * <p>
 * Messages are read one after the other, but one that is more urgent than those before
 * it, or much shorter than what is left of them, does not wait for them: the most urgent
 * one is read first, Read by Read, and equal ones take turns. Of one class, the one whose
 * call has the earlier deadline is read first. The rest wait without memory. How much is
 * asked for at a time is up to the {@link ReadWindow}. None is passed without end
 * ({@link Classes}). So the memory that a message has just given back, and that is still
 * in the processor's cache, is what the next one is read into.
 *
 * <p>
 * What a message says of its length costs nothing. It gets memory for eight times as much
 * as the peer has delivered of a message before, {@value #FIRST_BYTES} bytes at least,
 * and all of it when it has shown that it delivers: what was read meanwhile is copied. So
 * that happens to the first messages of a connection only.
 *
 * <p>
 * Implementation notes. Messages that each hold memory and need more of it could keep it
 * from each other for good. So one joins those that are read only if it gets all of its
 * memory at once, or if what it and the others like it need in the end does not exceed
 * what all may have. Whatever holds all that it needs comes to its end and gives that
 * back, and then there is enough for the rest, who are next to get some, however urgent
 * those are that hold none. Where the memory itself is short, one that waits is given up
 * as soon as none is being read that would give some back.
 *
 * <p>
 * Confined to the loop's driver. Every transfer ends with one call of {@link Receiver}
 * or, when it was cancelled, without; the peer is told that its memory is not needed any
 * more in each case, once no Read is under way.
 */
final class InboundTransfers {

	/** What a peer that has delivered nothing yet may hold. */
	static final int FIRST_BYTES = 64 * 1024;

	private static final long GROWTH_FACTOR = 8;

	/** So many have memory at most of which one is read because of its deadline. */
	private static final int MOST_PREEMPTED = 4;

	/** A peer that has served no Read for so long is not about to serve one. */
	private static final long STILL_NANOS = 20_000_000;

	/** How often the peer is told of progress. */
	private static final long TELL_NANOS = 1_000_000_000;

	/** How often at least while a peer may be silent; each time costs a credit. */
	private static final int TELL_FRACTION = 4;

	private final Receiver receiver;

	private final MemoryAttachment attachment;

	private final LoopMetrics metrics;

	private final RegisteredMemory memory;

	private final int maxTransfers;

	private final long maxBytes;

	private final long patienceNanos;

	private final long tellNanos;

	private final ReadWindow window;

	private final WorkRequest read = new WorkRequest(1);

	private final Map<Integer, InboundTransfer> transfers = new HashMap<>();

	/** The next one first. */
	private final List<InboundTransfer> waiting = new ArrayList<>();

	private final ArrayDeque<InboundTransfer> ready = new ArrayDeque<>();

	/** Those whose Reads must complete before they get more memory. */
	private final ArrayDeque<InboundTransfer> pausing = new ArrayDeque<>();

	private final ArrayDeque<InboundTransfer> reading = new ArrayDeque<>();

	/** Those given up of which Reads are under way. */
	private int cancelled;

	private int readDepth = 1;

	private long heldBytes;

	/** The most that the peer has delivered of a message. */
	private long deliveredBytes;

	private long nowNanos;

	private long progressNanos;

	private long toldNanos;

	private boolean shortOfMemory;

	/** Whether small messages come beside what was asked for last. */
	private boolean sharing;

	/** Whether Reads are posted now, or first those that are under way go on. */
	private boolean posting = true;

	InboundTransfers(Receiver receiver, LoopResources resources, LoopMetrics metrics, ChannelOptions options,
			int maxTransfers) {
		this.receiver = receiver;
		this.attachment = resources.attachment();
		this.metrics = metrics;
		this.memory = resources.memory();
		this.maxTransfers = maxTransfers;
		this.window = new ReadWindow(resources.scheduler(), resources.small());
		this.maxBytes = options.maxUnfinishedBytes();
		this.patienceNanos = options.deadPeerNanos();
		this.tellNanos = Math.min(TELL_NANOS, this.patienceNanos / TELL_FRACTION);
	}

	/** How many Reads the connection allows at once. */
	void readDepth(int depth) {
		this.readDepth = depth;
		this.window.readDepth(depth);
	}

	/**
	 * A message has come in frames, or one if it is small: Reads make way for its like.
	 */
	void passedBy(int priority, boolean small, long nowNanos) {
		this.window.arrived(priority, nowNanos);
		if (small) {
			this.window.smallArrived(priority, nowNanos);
		}
	}

	/**
	 * A frame has described a message.
	 * @return whether the peer may begin it
	 */
	boolean begin(IncomingMessage message, ByteBuffer frame, boolean request, long nowNanos) {
		if (this.transfers.size() - this.cancelled >= this.maxTransfers
				|| this.transfers.containsKey(message.requestId())) {
			return false;
		}
		InboundTransfer transfer = new InboundTransfer(message, frame, request);
		this.transfers.put(message.requestId(), transfer);
		this.nowNanos = nowNanos;
		if (transfer.priority() > 0) {
			this.window.arrived(transfer.priority() - 1, nowNanos);
		}
		if (this.waiting.isEmpty() && this.reading.isEmpty()) {
			this.progressNanos = nowNanos;
			this.toldNanos = nowNanos;
		}
		if (this.shortOfMemory || !mayPass(transfer) || !mayJoin(transfer) || !extend(transfer)) {
			transfer.waitsSince(nowNanos);
			addWaiting(transfer);
		}
		else {
			this.waiting.forEach((passed) -> notePassing(transfer, passed));
		}
		return true;
	}

	private void notePassing(InboundTransfer next, InboundTransfer passed) {
		if (passed.passedBy(next)) {
			this.metrics.overtaken(passed.priority());
		}
	}

	/**
	 * Behind those that are as urgent and have no later deadline, those that were passed
	 * often enough, and one that holds memory.
	 */
	private void addWaiting(InboundTransfer transfer) {
		int at = this.waiting.size();
		while (at > 0 && transfer.mayPassWaiting(this.waiting.get(at - 1))) {
			notePassing(transfer, this.waiting.get(--at));
		}
		this.waiting.add(at, transfer);
	}

	private @Nullable InboundTransfer firstWaiting() {
		return this.waiting.isEmpty() ? null : this.waiting.get(0);
	}

	/** How many hold memory of those that wait: the first ones. */
	private int holdingWaiting() {
		int count = 0;
		while (count < this.waiting.size() && this.waiting.get(count).heldBytes() > 0) {
			count++;
		}
		return count;
	}

	/** Whether a message need not wait behind those that wait already. */
	private boolean mayPass(InboundTransfer transfer) {
		InboundTransfer first = firstWaiting();
		return first == null || transfer.mayOvertake(first, this.ready, this.pausing);
	}

	/** Whether a message is to be read now, alone or by turns with others. */
	private boolean mayJoin(InboundTransfer transfer) {
		boolean mayPreempt = this.ready.size() + this.pausing.size() < MOST_PREEMPTED;
		return canEnd(transfer) && transfer.mayJoin(this.ready, mayPreempt)
				&& transfer.mayJoin(this.pausing, mayPreempt);
	}

	/** Whether there will be memory for all of a message once it has some. */
	private boolean canEnd(InboundTransfer transfer) {
		if (transfer.heldBytes() > 0 || trustedBytes(transfer) == transfer.memoryBytes()) {
			return true;
		}
		long growing = InboundTransfer.growingBytes(this.ready) + InboundTransfer.growingBytes(this.pausing);
		for (int i = holdingWaiting() - 1; i >= 0; i--) {
			growing += this.waiting.get(i).memoryBytes();
		}
		return growing == 0 || growing + transfer.memoryBytes() <= this.maxBytes;
	}

	/** For how much of a message it may have memory. */
	private int trustedBytes(InboundTransfer transfer) {
		long trusted = Math.max(FIRST_BYTES, GROWTH_FACTOR * this.deliveredBytes);
		return (int) Math.min(transfer.memoryBytes(), trusted);
	}

	/** Gets memory for a message, or more of it, and lets it be read. */
	private boolean extend(InboundTransfer transfer) {
		int held = transfer.heldBytes();
		int bytes = trustedBytes(transfer);
		boolean allowed = this.heldBytes == held || this.heldBytes - held + bytes <= this.maxBytes;
		RegisteredBuffer target = allowed ? this.receiver.claim(bytes) : null;
		this.shortOfMemory = target == null;
		if (target == null) {
			this.receiver.onShortOfMemory();
			return false;
		}
		transfer.moveTo(target);
		this.heldBytes += transfer.heldBytes() - held;
		this.ready.add(transfer);
		this.posting = true;
		return true;
	}

	/**
	 * Tries again to get memory for those that wait for it, in turn. One is given up when
	 * it has waited, and nothing has moved, for as long as it is worth it, and no other
	 * message is being read whose memory will come back.
	 */
	void retry(long nowNanos) {
		for (InboundTransfer first = firstWaiting(); first != null; first = firstWaiting()) {
			if (!mayJoin(first)) {
				return;
			}
			if (extend(first)) {
				this.waiting.remove(0);
				this.progressNanos = nowNanos;
			}
			else if (isReadingNone() && !this.memory
				.isWorthWaiting(Math.min(nowNanos - this.progressNanos, first.waitedNanos(nowNanos)))) {
				this.waiting.remove(0);
				this.transfers.remove(first.requestId());
				release(first);
				this.receiver.onTransferWithoutMemory(first);
			}
			else {
				return;
			}
		}
		this.shortOfMemory = false;
	}

	/** Whether there is none whose memory will come back. */
	private boolean isReadingNone() {
		return this.ready.isEmpty() && this.pausing.isEmpty() && this.reading.isEmpty();
	}

	/** Why the channel should be given up, or {@code null}. */
	@Nullable String problem(long nowNanos) {
		return (!this.reading.isEmpty() && nowNanos - this.progressNanos > this.patienceNanos)
				? "a Read was not answered for " + (nowNanos - this.progressNanos) / 1_000_000 + " ms" : null;
	}

	/** Whether a Read is under way, and the peer has served one lately, or just begun. */
	boolean isMoving(long nowNanos) {
		return !this.reading.isEmpty() && nowNanos - this.progressNanos < STILL_NANOS;
	}

	/** Memory that is held while the peer has answered no Read since then. */
	long stalledBytes(long sinceNanos) {
		return (!this.reading.isEmpty() && this.progressNanos - sinceNanos < 0) ? this.heldBytes : 0;
	}

	/** Memory of the messages that are being read. */
	long heldBytes() {
		return this.heldBytes;
	}

	/** Messages that are being read or wait for it. */
	Collection<InboundTransfer> all() {
		return this.transfers.values();
	}

	/** Whether some wait for memory, so that {@link #retry} should be called soon. */
	boolean isWaiting() {
		return this.shortOfMemory;
	}

	/** Whether Reads could be posted. */
	boolean canPost() {
		if (this.reading.size() >= this.readDepth) {
			return false;
		}
		InboundTransfer next = (this.posting && !this.ready.isEmpty()) ? nextReady()
				: (this.shortOfMemory ? null : firstWaiting());
		return next != null && this.window.hasRoom(next.priority(), this.nowNanos);
	}

	/** The most urgent one of those to be read, unless another was passed enough. */
	private @Nullable InboundTransfer nextReady() {
		InboundTransfer next = this.ready.peek();
		if (this.ready.size() > 1) {
			for (InboundTransfer other : this.ready) {
				if (next == null || other.goesBefore(next)) {
					next = other;
				}
			}
		}
		return next;
	}

	/** Takes the one whose turn it is, and notes whom it passes. */
	private void take(InboundTransfer next) {
		this.ready.remove(next);
		for (InboundTransfer other : this.ready) {
			notePassing(next, other);
		}
		next.hadTurn();
	}

	/**
	 * Posts as many Reads as the connection and its send queue allow; the next ones only
	 * when half of them have completed, or a message has joined, so that they leave
	 * together.
	 * @return whether any was posted
	 */
	boolean post(QueuePair pair) {
		boolean any = false;
		while (canPost()) {
			InboundTransfer first = firstWaiting();
			if (first != null && !this.shortOfMemory && mayJoin(first) && extend(first)) {
				this.waiting.remove(0);
			}
			InboundTransfer next = nextReady();
			if (next == null || !this.posting) {
				break;
			}
			this.sharing = this.window.isBesideSmall(next.priority(), this.nowNanos);
			int slice = this.window.sliceBytes(next.priority(), this.nowNanos);
			next.fillNext(this.read, this.attachment, slice);
			if (pair.postSend(this.read) != PostResult.POSTED) {
				break;
			}
			any = true;
			this.window.posted(next.posted(slice));
			this.metrics.sliced(next.priority());
			this.reading.add(next);
			take(next);
			if (next.hasNext()) {
				(next.hasRoom() ? this.ready : this.pausing).add(next);
			}
			InboundTransfer following = nextReady();
			this.posting = this.reading.size() < this.readDepth
					&& (following == null || this.window.hasRoom(following.priority(), this.nowNanos));
		}
		return any;
	}

	/** Whether small messages come beside those that are being read. */
	boolean isSharing() {
		return this.sharing && !isReadingNone();
	}

	/** The oldest Read has completed or was flushed. */
	void completed(boolean success, long bytes, long nowNanos) {
		InboundTransfer transfer = this.reading.poll();
		if (transfer == null) {
			return;
		}
		transfer.completed(success ? (int) bytes : 0);
		this.nowNanos = nowNanos;
		this.window.completed(nowNanos);
		InboundTransfer next = nextReady();
		this.posting |= this.reading.size() <= this.readDepth / 2
				&& this.window.isHalfEmpty((next != null) ? next.priority() : transfer.priority(), nowNanos);
		this.progressNanos = nowNanos;
		if (success) {
			this.metrics.read(bytes);
			arrived(transfer);
		}
		else {
			giveUp(transfer);
		}
		if (!transfer.isQuiet() || (transfer.hasNext() && transfer.hasRoom())) {
			tell(transfer, nowNanos);
			return;
		}
		if (!transfer.isCancelled()) {
			this.deliveredBytes = Math.max(this.deliveredBytes, transfer.postedBytes());
		}
		if (transfer.hasNext()) {
			goOn(transfer, nowNanos);
			tell(transfer, nowNanos);
			return;
		}
		this.toldNanos = nowNanos;
		this.transfers.remove(transfer.requestId(), transfer);
		if (transfer.isCancelled()) {
			abandon(transfer);
		}
		else {
			this.heldBytes -= transfer.heldBytes();
			this.receiver.onTransferred(transfer);
		}
		retry(nowNanos);
	}

	/** While more arrives, as much as possible is done for what is there. */
	private void arrived(InboundTransfer transfer) {
		if (transfer.isBegun()) {
			this.receiver.onTransferBegun(transfer);
		}
		transfer.fillArriving();
	}

	/** Tells the peer now and then that its message is being read. */
	private void tell(InboundTransfer transfer, long nowNanos) {
		if (nowNanos - this.toldNanos >= this.tellNanos) {
			this.toldNanos = nowNanos;
			this.receiver.onTransferProgress(transfer);
		}
	}

	/** All that there was memory for has been read: the rest is next. */
	private void goOn(InboundTransfer transfer, long nowNanos) {
		this.pausing.remove(transfer);
		if (!extend(transfer)) {
			transfer.waitsSince(nowNanos);
			this.waiting.add(0, transfer);
		}
	}

	private void giveUp(InboundTransfer transfer) {
		this.cancelled += transfer.isCancelled() ? 0 : 1;
		transfer.cancel();
		this.ready.remove(transfer);
		this.pausing.remove(transfer);
	}

	/** Gives up a message in which nobody is interested any more. */
	void cancel(int requestId) {
		InboundTransfer transfer = this.transfers.get(requestId);
		if (transfer == null || transfer.isCancelled()) {
			return;
		}
		giveUp(transfer);
		this.waiting.remove(transfer);
		this.shortOfMemory &= !this.waiting.isEmpty();
		if (transfer.isQuiet()) {
			this.transfers.remove(requestId);
			abandon(transfer);
		}
	}

	private void abandon(InboundTransfer transfer) {
		this.cancelled--;
		release(transfer);
		this.receiver.onTransferAbandoned(transfer);
	}

	private void release(InboundTransfer transfer) {
		this.heldBytes -= transfer.heldBytes();
		transfer.release();
	}

	/**
	 * Gives so many at most up that hold memory and are not read, and the few that wait
	 * for more; tells how many. The others are not looked at.
	 */
	int close(int most) {
		this.shortOfMemory = false;
		this.reading.forEach(InboundTransfer::cancel);
		int count = close(this.waiting, holdingWaiting());
		this.waiting.clear();
		count += close(this.ready, most - count);
		count += close(this.pausing, most - count);
		if (count < most && isQuiet()) {
			forget();
		}
		return count;
	}

	/** Only what has failed can hold memory still. */
	private void forget() {
		if (this.heldBytes > 0) {
			this.transfers.values().forEach(this::release);
		}
		this.transfers.clear();
	}

	private int close(Collection<InboundTransfer> some, int most) {
		int count = 0;
		for (Iterator<InboundTransfer> all = some.iterator(); count < most && all.hasNext();) {
			InboundTransfer transfer = all.next();
			all.remove();
			if (transfer.isQuiet()) {
				release(transfer);
				count++;
			}
		}
		return count;
	}

	/** Whether no Read is under way. */
	boolean isQuiet() {
		return this.reading.isEmpty();
	}

	/** Gives everything back; the queue pair is closed already. */
	void dropPosted() {
		this.reading.forEach(this::release);
		this.reading.clear();
		forget();
	}

	/** Is told how transfers end. */
	interface Receiver {

		/** Claims memory to read into, owned by the caller, or declines. */
		@Nullable RegisteredBuffer claim(int bytes);

		/** A message waits for memory: {@link #retry} is to be called soon. */
		void onShortOfMemory();

		/** The beginning of a message is there, and the rest is on its way. */
		void onTransferBegun(InboundTransfer transfer);

		/** All of a message is there; it is owned by the callee. */
		void onTransferred(InboundTransfer transfer);

		/** Some of a message is there, and it has taken a while. */
		void onTransferProgress(InboundTransfer transfer);

		/** There was no memory in time. */
		void onTransferWithoutMemory(InboundTransfer transfer);

		/** A cancelled transfer has no Reads under way any more. */
		void onTransferAbandoned(InboundTransfer transfer);

	}

}
