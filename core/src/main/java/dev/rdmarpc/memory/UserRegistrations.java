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

package dev.rdmarpc.memory;

import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;

import org.jspecify.annotations.Nullable;

/**
 * Registrations of the users' own memory. One that is not in use any more is remembered
 * for the next time, up to a number of bytes; the longest unused goes first.
 *
 * <p>
 * Thread-safe. Implementation notes: the lock guards what there is, and is not held while
 * a device works. Who uses memory first registers it under the lock of its registration;
 * others who use the same wait there. What has been unused for longest is only put aside
 * by who releases, and deregistered by {@link #deregisterRetired()}. What was forgotten
 * is deregistered by whoever forgets or releases it, because the user may free the memory
 * then; forgetting also deregisters, under a lock of its own, so that nothing that was
 * put aside before is still registered after it.
 */
final class UserRegistrations {

	private final Registrar registrar;

	private final long maxIdleBytes;

	private final ReentrantLock deregistering = new ReentrantLock();

	private final ReentrantLock lock = new ReentrantLock();

	private final Map<Key, Registration> known = new HashMap<>();

	private final IdentityHashMap<Extent, Registration> byExtent = new IdentityHashMap<>();

	/** Those not in use, the longest unused first. */
	private final LinkedHashSet<Registration> idle = new LinkedHashSet<>();

	/** Those to be deregistered by {@link #deregisterRetired()}. */
	private final ArrayDeque<Registration> aside = new ArrayDeque<>();

	private long idleBytes;

	private volatile boolean anyRetired;

	private final AtomicLong bytes = new AtomicLong();

	private final AtomicLong hits = new AtomicLong();

	UserRegistrations(Registrar registrar, long maxIdleBytes) {
		this.registrar = registrar;
		this.maxIdleBytes = maxIdleBytes;
	}

	/** The extent for what is between position and limit, in use once more. */
	Extent use(ByteBuffer direct) {
		Registration registration = registration(new Key(direct, direct.position(), direct.limit()));
		boolean complete = false;
		registration.lock.lock();
		try {
			if (!registration.registered) {
				register(registration.extent);
				registration.registered = true;
			}
			complete = true;
		}
		finally {
			registration.lock.unlock();
			if (!complete) {
				withdraw(registration);
			}
		}
		return registration.extent;
	}

	private Registration registration(Key key) {
		this.lock.lock();
		try {
			Registration registration = this.known.get(key);
			if (registration == null) {
				registration = new Registration(key, new Extent(key.buffer.slice()));
				this.known.put(key, registration);
				this.byExtent.put(registration.extent, registration);
				this.bytes.addAndGet(registration.extent.lengthBytes());
			}
			else {
				this.hits.incrementAndGet();
				if (this.idle.remove(registration)) {
					this.idleBytes -= registration.extent.lengthBytes();
				}
			}
			registration.users++;
			return registration;
		}
		finally {
			this.lock.unlock();
		}
	}

	/** Registers, if need be at the expense of all that is only remembered. */
	private void register(Extent extent) {
		try {
			this.registrar.add(extent);
		}
		catch (RuntimeException ex) {
			if (!putAside(0)) {
				throw refused(extent, ex);
			}
			deregisterRetired();
			try {
				this.registrar.add(extent);
			}
			catch (RuntimeException again) {
				throw refused(extent, again);
			}
		}
	}

	private static MemoryExhaustedException refused(Extent extent, RuntimeException cause) {
		return new MemoryExhaustedException(
				"a device refused to register " + extent.lengthBytes() + " bytes of the user's own", cause);
	}

	/** Ends a use for which there is no registration. */
	private void withdraw(Registration registration) {
		this.lock.lock();
		try {
			if (--registration.users == 0) {
				remove(registration);
				this.bytes.addAndGet(-registration.extent.lengthBytes());
			}
		}
		finally {
			this.lock.unlock();
		}
	}

	/** Ends one use. May leave something to {@link #deregisterRetired()}. */
	void release(Extent extent) {
		Registration forgotten = null;
		this.lock.lock();
		try {
			Registration registration = this.byExtent.get(extent);
			if (registration != null && --registration.users == 0) {
				if (registration.forgotten) {
					forgotten = registration;
					remove(registration);
				}
				else {
					this.idle.add(registration);
					this.idleBytes += extent.lengthBytes();
					putAside(this.maxIdleBytes);
				}
			}
		}
		finally {
			this.lock.unlock();
		}
		if (forgotten != null) {
			deregister(forgotten);
		}
	}

	private boolean putAside(long bytesLeft) {
		this.lock.lock();
		try {
			while (this.idleBytes > bytesLeft) {
				Registration registration = this.idle.iterator().next();
				removeIdle(registration);
				this.aside.add(registration);
				this.anyRetired = true;
			}
			return !this.aside.isEmpty();
		}
		finally {
			this.lock.unlock();
		}
	}

	private boolean removeIdle(Registration registration) {
		if (!this.idle.remove(registration)) {
			return false;
		}
		this.idleBytes -= registration.extent.lengthBytes();
		remove(registration);
		return true;
	}

	private void remove(Registration registration) {
		this.known.remove(registration.key, registration);
		this.byExtent.remove(registration.extent);
	}

	private void deregister(Registration registration) {
		this.registrar.remove(registration.extent);
		this.bytes.addAndGet(-registration.extent.lengthBytes());
	}

	/** Whether there is something to {@link #deregisterRetired()}. */
	boolean hasRetired() {
		return this.anyRetired;
	}

	/** Deregisters what was put aside. The caller holds no lock. */
	void deregisterRetired() {
		this.deregistering.lock();
		try {
			for (Registration next = pollAside(); next != null; next = pollAside()) {
				deregister(next);
			}
		}
		finally {
			this.deregistering.unlock();
		}
	}

	private @Nullable Registration pollAside() {
		this.lock.lock();
		try {
			this.anyRetired = false;
			return this.aside.poll();
		}
		finally {
			this.lock.unlock();
		}
	}

	/** Drops what is known of a buffer: at once, or when it is no longer in use. */
	boolean forget(ByteBuffer direct) {
		List<Registration> dropped = new ArrayList<>();
		boolean found = false;
		this.lock.lock();
		try {
			for (Registration registration : this.byExtent.values().toArray(new Registration[0])) {
				if (registration.key.isOf(direct)) {
					found = true;
					registration.forgotten = true;
					this.known.remove(registration.key, registration);
					if (removeIdle(registration)) {
						dropped.add(registration);
					}
				}
			}
		}
		finally {
			this.lock.unlock();
		}
		dropped.forEach(this::deregister);
		deregisterRetired();
		return found;
	}

	/** Bytes that are registered, in use or remembered. */
	long bytes() {
		return this.bytes.get();
	}

	/** How often a registration was there already. */
	long hits() {
		return this.hits.get();
	}

	/** Forgets everything; the registrar deregisters it. */
	void close() {
		this.lock.lock();
		try {
			this.known.clear();
			this.byExtent.clear();
			this.idle.clear();
			this.aside.clear();
			this.idleBytes = 0;
			this.bytes.set(0);
		}
		finally {
			this.lock.unlock();
		}
	}

	private static final class Registration {

		private final Key key;

		private final Extent extent;

		private final ReentrantLock lock = new ReentrantLock();

		/** Guarded by {@link #lock}, all else by that of the others. */
		private boolean registered;

		private int users;

		private boolean forgotten;

		Registration(Key key, Extent extent) {
			this.key = key;
			this.extent = extent;
		}

	}

	/** A buffer object, not its content, and what of it. */
	private static final class Key {

		private final ByteBuffer buffer;

		private final int position;

		private final int limit;

		Key(ByteBuffer buffer, int position, int limit) {
			this.buffer = buffer;
			this.position = position;
			this.limit = limit;
		}

		@Override
		public boolean equals(@Nullable Object other) {
			return other instanceof Key key && key.isOf(this.buffer) && key.position == this.position
					&& key.limit == this.limit;
		}

		@SuppressWarnings("ReferenceEquality") // buffers are equal when their content is
		boolean isOf(ByteBuffer direct) {
			return this.buffer == direct;
		}

		@Override
		public int hashCode() {
			return Objects.hash(System.identityHashCode(this.buffer), this.position, this.limit);
		}

	}

}
