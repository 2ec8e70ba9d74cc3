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
import java.util.EnumSet;
import java.util.Objects;
import java.util.Set;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.codec.MessageSegments;
import dev.rdmarpc.memory.MemoryAttachment;
import dev.rdmarpc.memory.RegisteredBuffer;
import dev.rdmarpc.verbs.AccessFlag;
import dev.rdmarpc.verbs.MemoryRegion;
import dev.rdmarpc.verbs.ProtectionDomain;
import dev.rdmarpc.verbs.QueuePair;

/**
 * A message opened for the Reads of one peer: windows under keys of their own, which
 * cover just the message's bytes, are bound to the peer's connection where the device can
 * do that, and end with {@link #close()}. What lies in registered memory is opened where
 * it is, the rest is copied together.
 *
 * <p>
 * Owns the windows, a reference to each buffer opened in place, and the memory copied to.
 * Opened by any thread, then confined to whoever owns the message.
 */
final class Exposure {

	private static final Set<AccessFlag> ACCESS = EnumSet.of(AccessFlag.REMOTE_READ);

	private final ProtectionDomain domain;

	private final MemoryAttachment attachment;

	private final QueuePair peer;

	private final Memory memory;

	private @Nullable RegisteredBuffer copy;

	private final MemoryRegion[] windows = new MemoryRegion[WindowListFlyweight.MAX_WINDOWS];

	private final RegisteredBuffer[] held = new RegisteredBuffer[WindowListFlyweight.MAX_WINDOWS];

	private int windowCount;

	private int heldCount;

	private int copiedBytes;

	private Exposure(ProtectionDomain domain, MemoryAttachment attachment, QueuePair peer, Memory memory) {
		this.domain = domain;
		this.attachment = attachment;
		this.peer = peer;
		this.memory = memory;
	}

	/**
	 * Opens a message.
	 * @param attachment of its memory, to the domain
	 * @param peer this side's end of the connection to the peer that is to read it
	 * @param message borrowed; may be cleared afterwards
	 * @param memory claims memory for what must be copied, or throws
	 * @throws RuntimeException if there is no memory, or the device refuses a window;
	 * nothing stays open then
	 */
	static Exposure open(ProtectionDomain domain, MemoryAttachment attachment, QueuePair peer, MessageSegments message,
			Memory memory) {
		Exposure exposure = new Exposure(domain, attachment, peer, memory);
		try {
			exposure.openAll(message);
			return exposure;
		}
		catch (Throwable ex) {
			exposure.close();
			throw ex;
		}
	}

	private void openAll(MessageSegments message) {
		if (message.segmentCount() > WindowListFlyweight.MAX_WINDOWS) {
			message.coalesce(WindowListFlyweight.MAX_WINDOWS);
		}
		this.copiedBytes = copiedBytes(message);
		RegisteredBuffer copy = null;
		if (this.copiedBytes > 0) {
			copy = this.memory.claim(this.copiedBytes);
			this.copy = copy;
		}
		int copied = 0;
		int opened = 0;
		for (int i = 0; i < message.segmentCount(); i++) {
			ByteBuffer segment = message.segmentMemory(i);
			int offset = message.segmentOffset(i);
			int length = message.segmentLength(i);
			RegisteredBuffer buffer = message.segmentBuffer(i);
			if (buffer == null && copy != null) {
				copy.buffer().clear().put(copied, segment, offset, length);
				copied += length;
			}
			else if (buffer != null) {
				opened = openCopied(copy, opened, copied);
				this.held[this.heldCount++] = buffer.retain();
				open(buffer, offset, length);
			}
		}
		openCopied(copy, opened, copied);
	}

	/** Opens what was copied since the last time. */
	private int openCopied(@Nullable RegisteredBuffer copy, int from, int to) {
		if (copy != null && from < to) {
			open(copy, copy.offset() + from, to - from);
		}
		return to;
	}

	/** Opens bytes of the memory around a buffer, which is that of its region. */
	private void open(RegisteredBuffer buffer, int offset, int length) {
		MemoryRegion region = buffer.findRegion(this.attachment);
		MemoryRegion window = (region != null) ? this.domain.registerWindow(region, offset, length, ACCESS, this.peer)
				: this.domain.registerMemory(buffer.memory().duplicate().limit(offset + length).position(offset),
						ACCESS, this.peer);
		this.windows[this.windowCount++] = window;
	}

	/** How much of a message would be copied, because it is not in registered memory. */
	static int copiedBytes(MessageSegments message) {
		int bytes = 0;
		for (int i = 0; i < message.segmentCount(); i++) {
			bytes += (message.segmentBuffer(i) == null) ? message.segmentLength(i) : 0;
		}
		return bytes;
	}

	/** How much of the message was copied together. */
	int copiedBytes() {
		return this.copiedBytes;
	}

	/** The length of the message. */
	int totalBytes() {
		int bytes = 0;
		for (int i = 0; i < this.windowCount; i++) {
			bytes += this.windows[i].lengthBytes();
		}
		return bytes;
	}

	/** The number of windows. */
	int windowCount() {
		return this.windowCount;
	}

	/** One of the windows. */
	MemoryRegion window(int index) {
		return this.windows[Objects.checkIndex(index, this.windowCount)];
	}

	/** Writes the list of windows. */
	void describe(ByteBuffer frame, int at) {
		WindowListFlyweight.putCount(frame, at, this.windowCount);
		for (int i = 0; i < this.windowCount; i++) {
			MemoryRegion window = window(i);
			WindowListFlyweight.putWindow(frame, at, i, window.remoteAddress(), window.remoteKey(),
					window.lengthBytes());
		}
	}

	/** Revokes the windows, then gives the memory back. Idempotent. */
	void close() {
		try {
			while (this.windowCount > 0) {
				this.windows[--this.windowCount].close();
			}
			while (this.heldCount > 0) {
				this.held[--this.heldCount].release();
			}
		}
		finally {
			RegisteredBuffer own = this.copy;
			if (own != null) {
				this.copy = null;
				this.memory.giveBack(own);
			}
		}
	}

	/** Where the memory is from for what must be copied. */
	@FunctionalInterface
	interface Memory {

		/**
		 * Claims memory.
		 * @return owned by the caller
		 * @throws RuntimeException if there is none
		 */
		RegisteredBuffer claim(int bytes);

		/** Takes it back. */
		default void giveBack(RegisteredBuffer copy) {
			copy.release();
		}

	}

}
