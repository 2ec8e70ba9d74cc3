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
import java.util.Objects;

import org.jspecify.annotations.Nullable;

/**
 * Messages that go in one Send together, as {@link BundleFlyweight} says: requests, or
 * replies, that wait at the same time and are small and whole. So one Send, one
 * completion, one receive and one credit serve all of them. Nothing waits for others to
 * come.
 *
 * <p>
 * They are copied: a gather list would need room for each in every slot of the send
 * queue. If a device reports that a Send has failed, it is as for a message that was
 * posted alone.
 *
 * <p>
 * Only those of one class share a Send, and only while none of another class wait. So
 * nothing is overtaken more often than it would be. Confined to the loop's driver.
 */
final class FrameBundle {

	/** What is longer goes alone: to copy it costs as much as a Send. */
	static final int MOST_FRAME_BYTES = 1024;

	private final OrderedMessages waiting;

	private final @Nullable OutgoingMessage[] members = new OutgoingMessage[BundleFlyweight.MOST_FRAMES];

	private int count;

	private int bytes;

	/** How much the peer takes in one Send; 0 if that is for one frame only. */
	private int mostBytes;

	FrameBundle(OrderedMessages waiting) {
		this.waiting = waiting;
	}

	/** The peer takes several frames in one Send. */
	void upTo(int frameBytes) {
		this.mostBytes = frameBytes;
	}

	/**
	 * Selects those that share a Send with the message whose turn it is, after whose turn
	 * comes theirs.
	 * @return whether there are any
	 */
	boolean select(OutgoingMessage first) {
		this.count = 0;
		this.bytes = 0;
		if (this.mostBytes == 0 || this.waiting.size() < 2) {
			return false;
		}
		int at = 0;
		for (OutgoingMessage next = first; next != null && takes(next, at); next = this.waiting.following(next)) {
			this.bytes = at + next.nextFrameLength();
			at = FrameFlyweight.padded(this.bytes);
			this.members[this.count++] = next;
		}
		return this.count > 1;
	}

	/** Nobody is told of those that go together when they are sent. */
	private boolean takes(OutgoingMessage message, int at) {
		int length = message.nextFrameLength();
		return this.count < BundleFlyweight.MOST_FRAMES && length <= MOST_FRAME_BYTES && at + length <= this.mostBytes
				&& !message.isControl() && message.owner() == null && message.isUnposted() && message.isOneFrame();
	}

	/** How many were selected. */
	int count() {
		return this.count;
	}

	/** How long their Send is. */
	int bytes() {
		return this.bytes;
	}

	/** One of those that were selected. */
	OutgoingMessage get(int index) {
		return Objects.requireNonNull(this.members[index]);
	}

	/** Fills in the Send, which counts with the peer as they did. */
	void fill(OutgoingMessage send) {
		ByteBuffer frames = send.memory().buffer();
		int at = 0;
		for (int i = 0; i < this.count; i++) {
			OutgoingMessage member = get(i);
			at = BundleFlyweight.put(frames, at, member.memory().buffer(), member.nextFrameLength(),
					i < this.count - 1);
		}
		send.order(get(0).priority(), DeadlineQueue.NONE);
		send.countSmallWith(get(0), send.memory().length());
	}

	/** Posting them has failed, perhaps after they were sent. */
	void perhapsPosted() {
		for (int i = 0; i < this.count; i++) {
			get(i).perhapsPosted();
		}
	}

}
