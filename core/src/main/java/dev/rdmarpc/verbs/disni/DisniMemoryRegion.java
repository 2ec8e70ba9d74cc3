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
import java.util.concurrent.atomic.AtomicBoolean;

import com.ibm.disni.verbs.IbvMr;
import com.ibm.disni.verbs.SVCDeregMr;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import dev.rdmarpc.verbs.MemoryRegion;

/**
 * Memory registered with an adapter, under its virtual address.
 *
 * <p>
 * Over iWARP the peer writes into the sink of a Read under a key that permits remote
 * writes. A region that must not be open to the peer has a second registration for that,
 * made when it is first the sink of a Read, whose key nobody is told but by a Read.
 */
final class DisniMemoryRegion implements MemoryRegion {

	private static final Logger logger = LoggerFactory.getLogger(DisniMemoryRegion.class);

	private final DisniProtectionDomain domain;

	private final ByteBuffer memory;

	private final IbvMr registration;

	private final long address;

	private final int localKey;

	private final boolean localWrite;

	private final boolean separateReadSink;

	private final AtomicBoolean closed = new AtomicBoolean();

	private volatile boolean valid = true;

	private @Nullable IbvMr readSink;

	/**
	 * Creates the region of a registration.
	 * @param separateReadSink whether Reads need a registration of their own
	 */
	DisniMemoryRegion(DisniProtectionDomain domain, ByteBuffer memory, IbvMr registration, boolean localWrite,
			boolean separateReadSink) {
		this.domain = domain;
		this.memory = memory;
		this.registration = registration;
		this.address = registration.getAddr();
		this.localKey = registration.getLkey();
		this.localWrite = localWrite;
		this.separateReadSink = separateReadSink;
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
	boolean permits(DisniProtectionDomain user, int offset, int length, boolean filled) {
		return this.domain == user && this.valid && offset >= 0 && length >= 0
				&& (long) offset + length <= lengthBytes() && (this.localWrite || !filled);
	}

	/** The key under which Reads fill the region. */
	int readSinkKey() {
		return this.separateReadSink ? separateReadSinkKey() : this.localKey;
	}

	private synchronized int separateReadSinkKey() {
		IbvMr sink = this.readSink;
		if (sink == null) {
			try {
				sink = this.domain.register(this.address, lengthBytes(),
						IbvMr.IBV_ACCESS_LOCAL_WRITE | IbvMr.IBV_ACCESS_REMOTE_WRITE);
			}
			catch (IOException ex) {
				throw DisniDevice.failure("region cannot be the sink of a Read", ex);
			}
			this.readSink = sink;
		}
		return sink.getLkey();
	}

	@Override
	public void close() {
		if (!this.closed.compareAndSet(false, true)) {
			return;
		}
		this.valid = false;
		deregister(this.registration);
		synchronized (this) {
			if (this.readSink != null) {
				deregister(this.readSink);
			}
		}
		this.domain.removed(this);
	}

	private static void deregister(IbvMr registration) {
		try {
			SVCDeregMr call = registration.deregMr();
			call.execute();
			call.free();
		}
		catch (IOException ex) {
			logger.warn("Region was not deregistered", ex);
		}
	}

}
