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

package dev.rdmarpc.verbs.iwarp.rdmap;

import java.nio.ByteBuffer;
import java.util.HexFormat;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.verbs.MemoryRegion;
import dev.rdmarpc.verbs.ProtectionDomain;
import dev.rdmarpc.verbs.QueuePair;
import dev.rdmarpc.verbs.support.Registration;

/**
 * A registered region: memory under an STag, with a random base as its tagged offset.
 *
 * <p>
 * Implementation notes. Validity is one volatile flag that every reactor reads, holding
 * its lock, before each step that touches the memory. Closing clears the flag and then
 * passes once through the lock of every reactor, after which no step that saw the region
 * valid can still be under way.
 */
public final class IwarpMemoryRegion implements MemoryRegion {

	private static final int KEPT_VIEWS = 64;

	private final ProtectionDomain protectionDomain;

	private final ByteBuffer memory;

	private final int lengthBytes;

	private final int stag;

	private final long base;

	private final @Nullable QueuePair borrower;

	private final Consumer<IwarpMemoryRegion> deregistration;

	private final boolean localWrite;

	private final boolean remoteRead;

	private final boolean remoteWrite;

	private final ByteBuffer[] views = new ByteBuffer[KEPT_VIEWS];

	private int viewCount;

	private volatile boolean valid = true;

	/**
	 * Creates the region of a registration.
	 * @param borrower whose peer alone may use it, or {@code null} if all of the domain
	 * may
	 * @param deregistration what closing it does
	 */
	public IwarpMemoryRegion(ProtectionDomain protectionDomain, Registration asked, @Nullable QueuePair borrower,
			int stag, long base, Consumer<IwarpMemoryRegion> deregistration) {
		this.protectionDomain = protectionDomain;
		this.borrower = borrower;
		this.deregistration = deregistration;
		this.memory = asked.memory();
		this.lengthBytes = asked.lengthBytes();
		this.stag = stag;
		this.base = base;
		this.localWrite = asked.localWrite();
		this.remoteRead = asked.remoteRead();
		this.remoteWrite = asked.remoteWrite();
	}

	@Override
	public int lengthBytes() {
		return this.lengthBytes;
	}

	@Override
	public int localKey() {
		return this.stag;
	}

	@Override
	public int remoteKey() {
		return this.stag;
	}

	@Override
	public long remoteAddress() {
		return this.base;
	}

	@Override
	public ByteBuffer memory() {
		return this.memory;
	}

	@Override
	public boolean isValid() {
		return this.valid;
	}

	boolean remoteReadable() {
		return this.remoteRead;
	}

	boolean remoteWritable() {
		return this.remoteWrite;
	}

	/**
	 * Whether the peer of a domain's queue pair may name it, in requests that it permits.
	 */
	boolean isOpenTo(ProtectionDomain domain, QueuePair queuePair) {
		return this.protectionDomain == domain && (this.borrower == null || this.borrower == queuePair);
	}

	/** Whether the peer of a queue pair may invalidate it: it was lent to that peer. */
	boolean isLentTo(QueuePair queuePair) {
		return this.borrower == queuePair && (this.remoteRead || this.remoteWrite);
	}

	/** Whether a local work request of a domain may read, or write, these bytes. */
	boolean permitsLocal(ProtectionDomain domain, int offset, int length, boolean write) {
		return this.valid && this.protectionDomain == domain && (offset | length) >= 0
				&& offset <= this.lengthBytes - length && (this.localWrite || !write);
	}

	/** Whether the tagged range lies within the region; call {@link #wraps} first. */
	boolean contains(long taggedOffset, long length) {
		long offset = taggedOffset - this.base;
		return offset >= 0 && offset <= this.lengthBytes - length;
	}

	int offsetOf(long taggedOffset) {
		return (int) (taggedOffset - this.base);
	}

	/** Whether a tagged range passes the end of the 64-bit space. */
	static boolean wraps(long taggedOffset, long length) {
		return length > 0 && Long.compareUnsigned(taggedOffset + (length - 1), taggedOffset) < 0;
	}

	/** An STag as it appears in messages. */
	static String name(int stag) {
		return "0x" + HexFormat.of().toHexDigits(stag);
	}

	/** Takes a view of part of the memory, to be given back with {@link #releaseView}. */
	ByteBuffer acquireView(int offset, int length) {
		ByteBuffer view = null;
		synchronized (this.views) {
			if (this.viewCount > 0) {
				view = this.views[--this.viewCount];
			}
		}
		if (view == null) {
			view = this.memory.duplicate();
		}
		return view.limit(offset + length).position(offset);
	}

	void releaseView(ByteBuffer view) {
		synchronized (this.views) {
			if (this.viewCount < KEPT_VIEWS) {
				this.views[this.viewCount++] = view;
			}
		}
	}

	/** Ends the region's validity without waiting for steps under way. */
	public void invalidate() {
		this.valid = false;
	}

	@Override
	public void close() {
		this.deregistration.accept(this);
	}

	@Override
	public String toString() {
		return "region " + name(this.stag) + " of " + this.lengthBytes + " bytes";
	}

}
