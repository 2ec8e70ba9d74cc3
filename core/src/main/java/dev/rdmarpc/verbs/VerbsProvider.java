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

package dev.rdmarpc.verbs;

import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * A family of RDMA devices with one access path: user-space iWARP, an adapter through
 * libibverbs, shared memory. Found through {@link java.util.ServiceLoader} or constructed
 * explicitly with its own options.
 */
public interface VerbsProvider {

	/**
	 * The short name by which configuration selects this provider, such as {@code iwarp}.
	 */
	String name();

	/**
	 * The rank of the provider in automatic selection; the highest available one wins.
	 * Adapters rank at 300, user-space protocols at 100. Shared memory, which reaches no
	 * other host, ranks below what is available everywhere and is never selected by
	 * itself.
	 */
	int preference();

	/**
	 * Whether it reaches other hosts; what does not is the best way to peers on this one.
	 */
	default boolean reachesOtherHosts() {
		return true;
	}

	/**
	 * Whether this provider can work here, and why or why not. Never throws and never
	 * leaves native state behind.
	 */
	ProviderAvailability availability();

	/**
	 * The names of the devices that {@link #openDevice} accepts; empty if unavailable.
	 */
	List<String> deviceNames();

	/**
	 * Opens a source of memory that is of more use to devices of this provider than any
	 * other, owned by the caller; {@code null} if all memory is the same to them, or none
	 * can be had. It outlives devices.
	 */
	default @Nullable MemorySource openMemorySource() {
		return null;
	}

	/**
	 * Opens a device.
	 * @param name one of {@link #deviceNames()}, or {@code null} for the provider's
	 * default
	 * @return the opened device, owned by the caller
	 * @throws VerbsException with {@link VerbsError#UNAVAILABLE} or
	 * {@link VerbsError#NO_SUCH_DEVICE}
	 */
	VerbsDevice openDevice(@Nullable String name);

}
