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
import java.util.HashMap;
import java.util.Map;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.memory.RegisteredBuffer;
import dev.rdmarpc.memory.RegisteredMemory;

/**
 * Puts messages of several frames together. Frames of different messages may interleave;
 * those of one message come in order.
 *
 * <p>
 * Confined to the loop's driver. Bounded by the number of calls of the channel and by the
 * bytes that unfinished messages may take together, of which one alone may always be
 * begun. A message for which there is no room or no registered memory is read and
 * dropped.
 */
final class MessageAssembler {

	private final RegisteredMemory memory;

	private final Map<Integer, Assembly> assemblies = new HashMap<>();

	private final int maxAssemblies;

	private final long maxBytes;

	private long heldBytes;

	MessageAssembler(RegisteredMemory memory, int maxAssemblies, long maxBytes) {
		this.memory = memory;
		this.maxAssemblies = maxAssemblies;
		this.maxBytes = maxBytes;
	}

	/**
	 * Begins a message whose first frame does not hold all of it.
	 * @param drop whether to read and drop it
	 * @return whether the peer may begin it
	 */
	boolean begin(IncomingMessage head, ByteBuffer frame, int frameLength, boolean request, boolean drop,
			long nowNanos) {
		if (this.assemblies.size() >= this.maxAssemblies || this.assemblies.containsKey(head.requestId())) {
			return false;
		}
		int metadataBytes = FrameFlyweight.padded(head.metadataBytes());
		int received = frameLength - head.messageOffset();
		RegisteredBuffer target = drop ? null : claim(metadataBytes + head.messageBytes());
		Assembly assembly = new Assembly(target, metadataBytes, request);
		assembly.head.copyFrom(head);
		if (target != null) {
			ByteBuffer view = target.buffer();
			view.clear();
			view.put(0, frame, head.metadataOffset(), metadataBytes + received);
		}
		assembly.received = received;
		assembly.lastNanos = nowNanos;
		this.assemblies.put(head.requestId(), assembly);
		return true;
	}

	private @Nullable RegisteredBuffer claim(int bytes) {
		if (this.heldBytes > 0 && this.heldBytes + bytes > this.maxBytes) {
			return null;
		}
		RegisteredBuffer buffer = this.memory.tryAllocate(bytes);
		if (buffer != null) {
			this.heldBytes += buffer.length();
		}
		return buffer;
	}

	/** Adds a continuation frame. */
	Outcome add(ByteBuffer frame, int frameLength, long nowNanos) {
		Assembly assembly = this.assemblies.get(FrameFlyweight.requestId(frame));
		int bytes = frameLength - FrameFlyweight.HEADER_LENGTH;
		if (assembly == null || bytes <= 0 || FrameFlyweight.messageBytes(frame) != assembly.head.messageBytes()
				|| FrameFlyweight.offsetBytes(frame) != assembly.received
				|| bytes > assembly.head.messageBytes() - assembly.received) {
			return Outcome.VIOLATION;
		}
		RegisteredBuffer target = assembly.target;
		if (target != null) {
			target.buffer().put(assembly.offset + assembly.received, frame, FrameFlyweight.HEADER_LENGTH, bytes);
		}
		assembly.received += bytes;
		assembly.lastNanos = nowNanos;
		return (assembly.received < assembly.head.messageBytes()) ? Outcome.INCOMPLETE : Outcome.COMPLETE;
	}

	/** Takes the message that has just become complete or dropped, with its memory. */
	Assembly takeCompleted(int requestId) {
		Assembly assembly = this.assemblies.remove(requestId);
		if (assembly == null) {
			throw new IllegalStateException("no message " + requestId + " under assembly");
		}
		RegisteredBuffer target = assembly.target;
		if (target != null) {
			this.heldBytes -= target.length();
		}
		return assembly;
	}

	/** Forgets a message of which no more frames will come. */
	void cancel(int requestId) {
		Assembly assembly = this.assemblies.remove(requestId);
		if (assembly != null) {
			release(assembly);
		}
	}

	/** Stops keeping the bytes of a message in which nobody is interested any more. */
	void drop(int requestId) {
		Assembly assembly = this.assemblies.get(requestId);
		if (assembly != null) {
			release(assembly);
		}
	}

	private void release(Assembly assembly) {
		RegisteredBuffer target = assembly.target;
		if (target != null) {
			assembly.target = null;
			this.heldBytes -= target.length();
			target.release();
		}
	}

	/** Whether some message has had no frame since then. */
	boolean anyStalled(long sinceNanos) {
		for (Assembly assembly : this.assemblies.values()) {
			if (assembly.lastNanos - sinceNanos < 0) {
				return true;
			}
		}
		return false;
	}

	/** Gives everything back. */
	void close() {
		this.assemblies.values().forEach(this::release);
		this.assemblies.clear();
	}

	/** A message under assembly. */
	static final class Assembly {

		private final IncomingMessage head = new IncomingMessage();

		private final int offset;

		private final boolean request;

		private @Nullable RegisteredBuffer target;

		private int received;

		private long lastNanos;

		Assembly(@Nullable RegisteredBuffer target, int offset, boolean request) {
			this.target = target;
			this.offset = offset;
			this.request = request;
		}

		/**
		 * The message in its own memory, which the caller releases unless it was taken.
		 */
		IncomingMessage message(RegisteredBuffer assembled) {
			this.head.relocate(assembled, 0);
			return this.head;
		}

		IncomingMessage head() {
			return this.head;
		}

		boolean isRequest() {
			return this.request;
		}

		/** Its memory, or {@code null} if it was dropped. */
		@Nullable RegisteredBuffer target() {
			return this.target;
		}

	}

	/** What became of a frame. */
	enum Outcome {

		/** More frames are to come. */
		INCOMPLETE,

		/** The message is complete or completely dropped; see {@link #takeCompleted}. */
		COMPLETE,

		/** The frame contradicts the ones before it. */
		VIOLATION

	}

}
