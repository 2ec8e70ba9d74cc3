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
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.Iterator;
import java.util.LinkedHashSet;
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
 * Thread-safe. Its lock is outside that of the {@link Registrar}.
 */
final class UserRegistrations {

	private final Registrar registrar;

	private final long maxIdleBytes;

	private final ReentrantLock lock = new ReentrantLock();

	private final Map<Key, Registration> known = new HashMap<>();

	private final IdentityHashMap<Extent, Registration> byExtent = new IdentityHashMap<>();

	/** Those not in use, the longest unused first. */
	private final LinkedHashSet<Registration> idle = new LinkedHashSet<>();

	private long idleBytes;

	private final AtomicLong bytes = new AtomicLong();

	private final AtomicLong hits = new AtomicLong();

	UserRegistrations(Registrar registrar, long maxIdleBytes) {
		this.registrar = registrar;
		this.maxIdleBytes = maxIdleBytes;
	}

	/** The extent for what is between position and limit, in use once more. */
	Extent use(ByteBuffer direct) {
		this.lock.lock();
		try {
			Key key = new Key(direct, direct.position(), direct.limit());
			Registration registration = this.known.get(key);
			if (registration == null) {
				registration = new Registration(key, Extent.of(direct.slice()));
				register(registration.extent);
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
			return registration.extent;
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
			if (this.idle.isEmpty()) {
				throw refused(extent, ex);
			}
			evict(0);
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

	/** Ends one use. */
	void release(Extent extent) {
		this.lock.lock();
		try {
			Registration registration = this.byExtent.get(extent);
			if (registration != null && --registration.users == 0) {
				if (registration.forgotten) {
					drop(registration);
				}
				else {
					this.idle.add(registration);
					this.idleBytes += extent.lengthBytes();
					evict(this.maxIdleBytes);
				}
			}
		}
		finally {
			this.lock.unlock();
		}
	}

	private void evict(long bytesLeft) {
		while (this.idleBytes > bytesLeft) {
			Iterator<Registration> oldest = this.idle.iterator();
			Registration registration = oldest.next();
			oldest.remove();
			this.idleBytes -= registration.extent.lengthBytes();
			drop(registration);
		}
	}

	private void drop(Registration registration) {
		this.known.remove(registration.key, registration);
		this.byExtent.remove(registration.extent);
		this.registrar.remove(registration.extent);
		this.bytes.addAndGet(-registration.extent.lengthBytes());
	}

	/** Drops what is known of a buffer: at once, or when it is no longer in use. */
	boolean forget(ByteBuffer direct) {
		this.lock.lock();
		try {
			boolean found = false;
			for (Registration registration : this.byExtent.values().toArray(new Registration[0])) {
				if (registration.key.isOf(direct)) {
					found = true;
					registration.forgotten = true;
					this.known.remove(registration.key, registration);
					if (this.idle.remove(registration)) {
						this.idleBytes -= registration.extent.lengthBytes();
						drop(registration);
					}
				}
			}
			return found;
		}
		finally {
			this.lock.unlock();
		}
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
