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

package dev.rdmarpc.verbs.iwarp;

import java.util.List;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.verbs.ProviderAvailability;
import dev.rdmarpc.verbs.VerbsDevice;
import dev.rdmarpc.verbs.VerbsError;
import dev.rdmarpc.verbs.VerbsException;
import dev.rdmarpc.verbs.VerbsProvider;

/**
 * The provider of user-space iWARP, which works wherever there is TCP. Its one device is
 * called {@value #DEVICE_NAME}.
 */
public final class IwarpProvider implements VerbsProvider {

	/** The name of the provider. */
	public static final String NAME = "iwarp";

	/** The name of its device. */
	public static final String DEVICE_NAME = "iwarp0";

	private static final int PREFERENCE = 100;

	private final IwarpOptions options;

	/** Creates a provider with {@link IwarpOptions#DEFAULTS}. */
	public IwarpProvider() {
		this(IwarpOptions.DEFAULTS);
	}

	/** Creates a provider with its own settings. */
	public IwarpProvider(IwarpOptions options) {
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
	public ProviderAvailability availability() {
		return ProviderAvailability.available("iWARP in user space over TCP needs no adapter");
	}

	@Override
	public List<String> deviceNames() {
		return List.of(DEVICE_NAME);
	}

	@Override
	public VerbsDevice openDevice(@Nullable String name) {
		if (name != null && !name.equals(DEVICE_NAME)) {
			throw new VerbsException(VerbsError.NO_SUCH_DEVICE,
					"no device " + name + " (expected: " + DEVICE_NAME + ")");
		}
		return new IwarpDevice(DEVICE_NAME, this.options);
	}

}
