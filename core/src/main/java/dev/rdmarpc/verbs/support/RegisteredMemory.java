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

package dev.rdmarpc.verbs.support;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.verbs.MemoryOrigin;
import dev.rdmarpc.verbs.MemoryRegion;
import dev.rdmarpc.verbs.ProtectionDomain;
import dev.rdmarpc.verbs.QueuePair;

/**
 * A region of a provider in user space: memory of this process under a key, with a random
 * base as its address. Peers know it by both and never see the memory itself.
 *
 * <p>
 * Threading. Any thread reads it, and may take views of its memory.
 *
 * <p>
 * Implementation notes. Validity is one volatile flag that every engine reads, holding
 * its lock, before each step that touches the memory. Closing clears the flag and then
 * passes once through the lock of every engine, after which no step that saw the region
 * valid can still be under way.
 */
public final class RegisteredMemory implements MemoryRegion {

	private static final int KEPT_VIEWS = 64;

	private final ProtectionDomain protectionDomain;

	private final ByteBuffer memory;

	private final int lengthBytes;

	private final @Nullable MemoryOrigin origin;

	private final int originOffset;

	private final int key;

	private final long base;

	private final @Nullable QueuePair borrower;

	private final Consumer<RegisteredMemory> deregistration;

	private final boolean localWrite;

	private final boolean remoteRead;

	private final boolean remoteWrite;

	/** Views that nobody uses; guarded by itself. */
	private final ArrayList<ByteBuffer> views = new ArrayList<>(0);

	private volatile boolean valid = true;

	/**
	 * Creates the region of a registration.
	 * @param borrower whose peer alone may use it, or {@code null} if all of the domain
	 * may
	 * @param deregistration what closing it does
	 */
	public RegisteredMemory(ProtectionDomain protectionDomain, Registration asked, @Nullable QueuePair borrower,
			int key, long base, Consumer<RegisteredMemory> deregistration) {
		this.protectionDomain = protectionDomain;
		this.borrower = borrower;
		this.deregistration = deregistration;
		this.memory = asked.memory();
		this.lengthBytes = asked.lengthBytes();
		this.origin = asked.origin();
		this.originOffset = asked.originOffset();
		this.key = key;
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
		return this.key;
	}

	@Override
	public int remoteKey() {
		return this.key;
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

	/** Whose peers may use it, if they may. */
	public ProtectionDomain protectionDomain() {
		return this.protectionDomain;
	}

	/** Whose peer alone may use it, {@code null} if all of the domain may. */
	public @Nullable QueuePair borrower() {
		return this.borrower;
	}

	/** Where the provider has the memory from, {@code null} if it does not know. */
	public @Nullable MemoryOrigin origin() {
		return this.origin;
	}

	/** Where it begins in its {@link #origin()}. */
	public int originOffset() {
		return this.originOffset;
	}

	/** Whether peers may read it. */
	public boolean remoteReadable() {
		return this.remoteRead;
	}

	/** Whether peers may write to it. */
	public boolean remoteWritable() {
		return this.remoteWrite;
	}

	/**
	 * Whether the peer of a domain's queue pair may name it, in requests that it permits.
	 */
	public boolean isOpenTo(ProtectionDomain domain, QueuePair queuePair) {
		return this.protectionDomain == domain && (this.borrower == null || this.borrower == queuePair);
	}

	/** Whether the peer of a queue pair may invalidate it: it was lent to that peer. */
	public boolean isLentTo(QueuePair queuePair) {
		return this.valid && this.borrower == queuePair && (this.remoteRead || this.remoteWrite);
	}

	/** Whether a local work request of a domain may read, or write, these bytes. */
	public boolean permitsLocal(ProtectionDomain domain, int offset, int length, boolean write) {
		return this.valid && this.protectionDomain == domain && (offset | length) >= 0
				&& offset <= this.lengthBytes - length && (this.localWrite || !write);
	}

	/** Whether a range of addresses lies within the region; call {@link #wraps} first. */
	public boolean contains(long address, long length) {
		long offset = address - this.base;
		return offset >= 0 && offset <= this.lengthBytes - length;
	}

	/** Where an address that it contains lies in {@link #memory()}. */
	public int offsetOf(long address) {
		return (int) (address - this.base);
	}

	/** Whether a range of addresses passes the end of the 64-bit space. */
	public static boolean wraps(long address, long length) {
		return length > 0 && Long.compareUnsigned(address + (length - 1), address) < 0;
	}

	/** A key as it appears in messages. */
	public static String name(int key) {
		return "0x" + HexFormat.of().toHexDigits(key);
	}

	/** Takes a view of part of the memory, to be given back with {@link #releaseView}. */
	public ByteBuffer acquireView(int offset, int length) {
		ByteBuffer view = null;
		synchronized (this.views) {
			if (!this.views.isEmpty()) {
				view = this.views.remove(this.views.size() - 1);
			}
			else {
				this.views.ensureCapacity(KEPT_VIEWS);
			}
		}
		if (view == null) {
			view = this.memory.duplicate();
		}
		return view.limit(offset + length).position(offset);
	}

	/** Gives a view back, which nobody uses any more; needs no memory. */
	public void releaseView(ByteBuffer view) {
		synchronized (this.views) {
			if (this.views.size() < KEPT_VIEWS) {
				this.views.add(view);
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
		return "region " + name(this.key) + " of " + this.lengthBytes + " bytes";
	}

}
