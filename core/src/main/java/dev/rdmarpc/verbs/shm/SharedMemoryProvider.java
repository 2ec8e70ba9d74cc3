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

package dev.rdmarpc.verbs.shm;

import java.util.List;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import dev.rdmarpc.verbs.MemorySource;
import dev.rdmarpc.verbs.ProviderAvailability;
import dev.rdmarpc.verbs.VerbsDevice;
import dev.rdmarpc.verbs.VerbsError;
import dev.rdmarpc.verbs.VerbsException;
import dev.rdmarpc.verbs.VerbsProvider;

/**
 * The provider of shared memory, which reaches processes on the same host only. Its one
 * device is called {@value #DEVICE_NAME}.
 *
 * <p>
 * It ranks below user-space iWARP, which is available everywhere, so automatic selection
 * of a single provider never takes it: a process that uses shared memory alone cannot
 * talk to another host, and nobody but its operator knows whether it has to. As one of
 * several rails it comes first.
 */
public final class SharedMemoryProvider implements VerbsProvider {

	/** The name of the provider. */
	public static final String NAME = "shm";

	/** The name of its device. */
	public static final String DEVICE_NAME = "shm0";

	private static final int PREFERENCE = 10;

	private static final Logger logger = LoggerFactory.getLogger(SharedMemoryProvider.class);

	private final SharedMemoryOptions options;

	/** Creates a provider with {@link SharedMemoryOptions#DEFAULTS}. */
	public SharedMemoryProvider() {
		this(SharedMemoryOptions.DEFAULTS);
	}

	/** Creates a provider with its own settings. */
	public SharedMemoryProvider(SharedMemoryOptions options) {
		this.options = options;
	}

	@Override
	public String name() {
		return NAME;
	}

	@Override
	public int preference() {
		return PREFERENCE;
	}

	@Override
	public boolean reachesOtherHosts() {
		return false;
	}

	@Override
	public ProviderAvailability availability() {
		return Rendezvous.availability(this.options);
	}

	@Override
	public List<String> deviceNames() {
		return availability().available() ? List.of(DEVICE_NAME) : List.of();
	}

	@Override
	public @Nullable MemorySource openMemorySource() {
		if (this.options.trust() != SharedMemoryTrust.SAME_USER || !availability().available()) {
			return null;
		}
		try {
			return new ExtentSource(Rendezvous.open(this.options));
		}
		catch (VerbsException ex) {
			logger.warn("Registered memory is not shared with processes that are trusted", ex);
			return null;
		}
	}

	@Override
	public VerbsDevice openDevice(@Nullable String name) {
		if (name != null && !name.equals(DEVICE_NAME)) {
			throw new VerbsException(VerbsError.NO_SUCH_DEVICE,
					"no device " + name + " (expected: " + DEVICE_NAME + ")");
		}
		return new SharedMemoryDevice(DEVICE_NAME, this.options, Rendezvous.open(this.options));
	}

}
