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

package dev.rdmarpc.verbs.disni;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;

import com.ibm.disni.verbs.IbvMr;
import com.ibm.disni.verbs.SVCDeregMr;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

import dev.rdmarpc.logging.RateLimitedLogger;
import dev.rdmarpc.verbs.MemoryRegion;

/**
 * Memory registered with an adapter, under its virtual address.
 *
 * <p>
 * Over iWARP the peer writes into the sink of a Read, under a key that permits remote
 * writes and that each Read Request tells it. So each Read has a {@link ReadSink} of its
 * own there: the key of the region itself is told nobody.
 *
 * <p>
 * Implementation notes. Closing ends the validity first. Then it has every batch handed
 * over that may name the region, because an adapter's library copies short messages at
 * that moment, without asking for a key; what is posted later finds the region invalid. A
 * sink opened at the same time is either found by the closing thread or finds the region
 * invalid and ends by itself.
 */
final class DisniMemoryRegion implements MemoryRegion {

	private static final RateLimitedLogger failures = new RateLimitedLogger(
			LoggerFactory.getLogger(DisniMemoryRegion.class));

	private final AdapterDomain domain;

	private final ByteBuffer memory;

	private final IbvMr registration;

	private final long address;

	private final int localKey;

	private final boolean localWrite;

	private final Set<ReadSink> readSinks = ConcurrentHashMap.newKeySet();

	private final AtomicBoolean closed = new AtomicBoolean();

	private volatile boolean valid = true;

	DisniMemoryRegion(AdapterDomain domain, ByteBuffer memory, IbvMr registration, boolean localWrite) {
		this.domain = domain;
		this.memory = memory;
		this.registration = registration;
		this.address = registration.getAddr();
		this.localKey = registration.getLkey();
		this.localWrite = localWrite;
	}

	@Override
	public int lengthBytes() {
		return this.memory.capacity();
	}

	@Override
	public int localKey() {
		return this.localKey;
	}

	@Override
	public int remoteKey() {
		return this.registration.getRkey();
	}

	@Override
	public long remoteAddress() {
		return this.address;
	}

	/** The virtual address of byte 0. */
	long address() {
		return this.address;
	}

	@Override
	public ByteBuffer memory() {
		return this.memory;
	}

	@Override
	public boolean isValid() {
		return this.valid;
	}

	/** Whether a work request in a domain may read, or fill, these bytes. */
	boolean permits(AdapterDomain user, int offset, int length, boolean filled) {
		return this.domain == user && this.valid && offset >= 0 && length >= 0
				&& (long) offset + length <= lengthBytes() && (this.localWrite || !filled);
	}

	/** Whether each Read that fills the region needs a sink. */
	boolean ownReadSinks() {
		return this.localWrite && this.domain.attributes().iwarp();
	}

	/**
	 * Opens part of the region to the peer that is to fill it.
	 * @throws IOException if the adapter refuses it, or the region is not valid any more
	 */
	ReadSink openReadSink(long firstAddress, int bytes) throws IOException {
		IbvMr opened = this.domain.registerReadSink(firstAddress, bytes);
		ReadSink sink = new ReadSink(opened.getLkey(), (self) -> {
			this.readSinks.remove(self);
			return deregister(opened);
		});
		this.readSinks.add(sink);
		if (!this.valid) {
			sink.close();
			throw new IOException("the region was deregistered");
		}
		return sink;
	}

	/** The keys that peers know at present; for tests. */
	int[] readSinkKeys() {
		return this.readSinks.stream().mapToInt(ReadSink::key).toArray();
	}

	@Override
	public void close() {
		if (!this.closed.compareAndSet(false, true)) {
			return;
		}
		this.valid = false;
		try {
			this.domain.deliverBatches();
		}
		finally {
			deregister(this.registration);
			this.readSinks.forEach(ReadSink::close);
			this.domain.removed(this);
		}
	}

	/** Returns whether that was possible; throws nothing. */
	static boolean deregister(IbvMr registration) {
		try {
			SVCDeregMr call = registration.deregMr();
			call.execute();
			call.free();
			return true;
		}
		catch (Throwable ex) {
			failures.log(Level.WARN, "{} was not deregistered", registration, ex);
			return false;
		}
	}

}
