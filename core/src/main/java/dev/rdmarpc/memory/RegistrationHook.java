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
import java.util.EnumSet;
import java.util.Set;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.verbs.AccessFlag;
import dev.rdmarpc.verbs.MemoryOrigin;
import dev.rdmarpc.verbs.MemoryRegion;
import dev.rdmarpc.verbs.ProtectionDomain;

/**
 * Makes memory known to one device: called for each extent that a
 * {@link RegisteredMemory} adds or gives back, and for each piece of memory of the user's
 * own.
 *
 * <p>
 * Calls come one at a time for each piece of memory, but at the same time for different
 * ones, from whichever thread makes the pool grow and from one in the background when it
 * shrinks. A hook must not allocate from the memory it is attached to.
 */
public interface RegistrationHook {

	/**
	 * Registers memory.
	 * @param extent a direct buffer; everything from position to limit
	 * @return the region, owned by the pool until it is passed to {@link #deregister}
	 * @throws RuntimeException when the device refuses; what was being added is then
	 * withdrawn from all other hooks and dropped
	 */
	MemoryRegion register(ByteBuffer extent);

	/**
	 * Registers memory that may come from a source of a provider's.
	 * @param origin which memory of the source it is, {@code null} if of none
	 * @see #register(ByteBuffer)
	 */
	default MemoryRegion register(ByteBuffer extent, @Nullable MemoryOrigin origin) {
		return register(extent);
	}

	/** Deregisters a region that {@link #register} returned. Must not throw. */
	void deregister(MemoryRegion region);

	/**
	 * The hook for a protection domain.
	 * @param access what the device may do with the memory; the pool itself should have
	 * {@link AccessFlag#LOCAL_WRITE} only, because a remote flag opens all of it to each
	 * peer. Read-only memory is registered without write access
	 */
	static RegistrationHook of(ProtectionDomain domain, Set<AccessFlag> access) {
		Set<AccessFlag> writable = Set.copyOf(access);
		EnumSet<AccessFlag> readOnly = EnumSet.noneOf(AccessFlag.class);
		readOnly.addAll(access);
		readOnly.remove(AccessFlag.LOCAL_WRITE);
		readOnly.remove(AccessFlag.REMOTE_WRITE);
		return new RegistrationHook() {

			@Override
			public MemoryRegion register(ByteBuffer extent) {
				return domain.registerMemory(extent, extent.isReadOnly() ? readOnly : writable);
			}

			@Override
			public MemoryRegion register(ByteBuffer extent, @Nullable MemoryOrigin origin) {
				return (origin != null) ? domain.registerProvided(extent, writable, origin) : register(extent);
			}

			@Override
			public void deregister(MemoryRegion region) {
				region.close();
			}

		};
	}

	/** The hook for a protection domain with {@link AccessFlag#LOCAL_WRITE} only. */
	static RegistrationHook of(ProtectionDomain domain) {
		return of(domain, Set.of(AccessFlag.LOCAL_WRITE));
	}

}
