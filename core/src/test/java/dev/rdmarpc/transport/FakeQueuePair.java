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
import java.nio.ByteOrder;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.verbs.PostResult;
import dev.rdmarpc.verbs.QueuePair;
import dev.rdmarpc.verbs.QueuePairFault;
import dev.rdmarpc.verbs.QueuePairListener;
import dev.rdmarpc.verbs.QueuePairState;
import dev.rdmarpc.verbs.WorkOpcode;
import dev.rdmarpc.verbs.WorkRequest;
import dev.rdmarpc.verbs.WorkStatus;

/** A queue pair that keeps the frames posted to it until a test completes them. */
final class FakeQueuePair implements QueuePair {

	/** Where the peer's memory begins. */
	static final long WINDOW = 0x1000;

	final List<ByteBuffer> sent = new ArrayList<>();

	int depth = Integer.MAX_VALUE;

	int doorbells;

	/** Receives that the peer may use, from the beginning. */
	int allowed;

	/** Reads that have not completed. */
	int reads;

	/** The lengths of the Reads, in order. */
	final ArrayDeque<Integer> readBytes = new ArrayDeque<>();

	/** What Reads bring from each place of the peer's memory. */
	Content content = (offset) -> 0;

	/** Whether the last Send posted completes by itself. */
	boolean lastIsSignaled;

	boolean disconnected;

	boolean closed;

	/** Run before anything is posted. */
	Runnable onPost = () -> {
	};

	/** Run before the connection is left. */
	Runnable onDisconnect = () -> {
	};

	/** Run before it is closed. */
	Runnable onClose = () -> {
	};

	private final QueuePairListener listener;

	private final FakeCompletionQueue completions;

	private final ArrayDeque<Posted> incomplete = new ArrayDeque<>();

	FakeQueuePair(QueuePairListener listener, FakeCompletionQueue completions) {
		this.listener = listener;
		this.completions = completions;
	}

	/** Lets all posted Sends complete. */
	void completeAll() {
		while (!this.incomplete.isEmpty()) {
			completeOne();
		}
	}

	/** Lets one posted Send complete. */
	void completeOne() {
		complete(WorkStatus.SUCCESS);
	}

	/** Lets the oldest posted Read complete. */
	void completeRead(WorkStatus status) {
		this.reads--;
		this.completions.add((completion) -> completion.set(0, status, WorkOpcode.READ, 0, 0, this));
	}

	private void complete(WorkStatus status) {
		Posted send = this.incomplete.remove();
		if (send.signaled || status != WorkStatus.SUCCESS) {
			this.completions.add((completion) -> completion.set(send.id, status, WorkOpcode.SEND, 0, 0, this));
		}
	}

	/** The types of the frames posted so far. */
	List<String> sentTypes() {
		return this.sent.stream().map((frame) -> FrameType.name(FrameFlyweight.type(frame))).toList();
	}

	@Override
	public PostResult postSend(WorkRequest request) {
		this.onPost.run();
		if (this.incomplete.size() >= this.depth) {
			return PostResult.QUEUE_FULL;
		}
		if (request.opcode() == WorkOpcode.READ) {
			this.reads++;
			this.readBytes.add(request.segmentLength(0));
			for (int i = 0; i < request.segmentLength(0); i++) {
				request.segmentRegion(0)
					.memory()
					.put(request.segmentOffset(0) + i, this.content.at(request.remoteAddress() - WINDOW + i));
			}
			return PostResult.POSTED;
		}
		ByteBuffer frame = ByteBuffer.allocate(request.segmentLength(0)).order(ByteOrder.LITTLE_ENDIAN);
		frame.put(0, request.segmentRegion(0).memory(), request.segmentOffset(0), request.segmentLength(0));
		this.sent.add(frame);
		this.lastIsSignaled = request.signaled();
		this.incomplete.add(new Posted(request.id(), this.lastIsSignaled));
		return PostResult.POSTED;
	}

	@Override
	public PostResult postReceive(WorkRequest request) {
		throw new UnsupportedOperationException();
	}

	@Override
	public void allowReceives(int count) {
		this.allowed += count;
	}

	@Override
	public void ringDoorbell() {
		this.doorbells++;
	}

	@Override
	public void disconnect() {
		this.onDisconnect.run();
		if (!this.disconnected) {
			this.disconnected = true;
			while (!this.incomplete.isEmpty()) {
				complete(WorkStatus.FLUSHED);
			}
			while (this.reads > 0) {
				completeRead(WorkStatus.FLUSHED);
			}
		}
	}

	@Override
	public void close() {
		this.onClose.run();
		this.closed = true;
	}

	@Override
	public int number() {
		return 1;
	}

	@Override
	public QueuePairListener listener() {
		return this.listener;
	}

	@Override
	public QueuePairState state() {
		return this.disconnected ? QueuePairState.ERROR : QueuePairState.READY_TO_SEND;
	}

	@Override
	public @Nullable QueuePairFault fault() {
		return null;
	}

	/** A Send that has not ended. */
	private record Posted(long id, boolean signaled) {
	}

	/** The memory of a peer. */
	interface Content {

		byte at(long offset);

	}

}
