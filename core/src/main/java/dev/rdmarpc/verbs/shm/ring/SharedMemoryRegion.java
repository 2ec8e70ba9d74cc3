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

package dev.rdmarpc.verbs.shm.ring;

import java.nio.ByteBuffer;
import java.util.HexFormat;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.verbs.MemoryRegion;
import dev.rdmarpc.verbs.ProtectionDomain;
import dev.rdmarpc.verbs.QueuePair;
import dev.rdmarpc.verbs.support.Registration;

/**
 * Memory of this process that work requests and peers may name. Peers never see it: what
 * they read or write passes through the rings.
 */
public final class SharedMemoryRegion implements MemoryRegion {

	private final ProtectionDomain protectionDomain;

	private final @Nullable QueuePair borrower;

	private final Consumer<SharedMemoryRegion> deregistration;

	private final ByteBuffer memory;

	private final int lengthBytes;

	private final int key;

	private final long base;

	private final boolean localWrite;

	private final boolean remoteRead;

	private final boolean remoteWrite;

	private volatile boolean valid = true;

	/**
	 * Creates the region of a registration.
	 * @param borrower whose peer alone may use it, or {@code null} if all of the domain
	 * may
	 * @param deregistration what closing it does
	 */
	public SharedMemoryRegion(ProtectionDomain protectionDomain, Registration asked, @Nullable QueuePair borrower,
			int key, long base, Consumer<SharedMemoryRegion> deregistration) {
		this.protectionDomain = protectionDomain;
		this.borrower = borrower;
		this.deregistration = deregistration;
		this.memory = asked.memory();
		this.lengthBytes = asked.lengthBytes();
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

	/** Whether a local work request of a domain may read, or write, these bytes. */
	boolean permitsLocal(ProtectionDomain domain, int offset, int length, boolean write) {
		return this.valid && this.protectionDomain == domain && (offset | length) >= 0
				&& offset <= this.lengthBytes - length && (this.localWrite || !write);
	}

	/** Whether the peer of a domain's queue pair may read, or write, these bytes. */
	boolean permitsPeer(ProtectionDomain domain, QueuePair queuePair, long address, long length, boolean write) {
		long offset = address - this.base;
		return this.valid && this.protectionDomain == domain && (this.borrower == null || this.borrower == queuePair)
				&& (write ? this.remoteWrite : this.remoteRead) && length >= 0 && offset >= 0
				&& offset <= this.lengthBytes - length;
	}

	/** Whether the peer of a queue pair may invalidate it: it was lent to that peer. */
	boolean isLentTo(QueuePair queuePair) {
		return this.valid && this.borrower == queuePair && (this.remoteRead || this.remoteWrite);
	}

	int offsetOf(long address) {
		return (int) (address - this.base);
	}

	/** A key as it appears in messages. */
	static String name(int key) {
		return "0x" + HexFormat.of().toHexDigits(key);
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
