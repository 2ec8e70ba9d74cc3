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
import java.net.InetAddress;
import java.util.List;
import java.util.function.Predicate;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import dev.rdmarpc.verbs.ProviderAvailability;
import dev.rdmarpc.verbs.VerbsDevice;
import dev.rdmarpc.verbs.VerbsError;
import dev.rdmarpc.verbs.VerbsException;
import dev.rdmarpc.verbs.VerbsProvider;

/**
 * The provider of RDMA adapters: InfiniBand, RoCE and iWARP, in hardware or in the
 * kernel, through DiSNI, libibverbs and librdmacm.
 *
 * <p>
 * A device is asked for by the name the kernel gives it, such as {@code mlx5_0}, or by an
 * address, its own or one that it reaches. The default is the first one whose port is
 * active.
 */
public final class DisniProvider implements VerbsProvider {

	/** The name of the provider. */
	public static final String NAME = "disni";

	private static final Logger logger = LoggerFactory.getLogger(DisniProvider.class);

	private static final int PREFERENCE = 300;

	private final boolean emulatingSharedReceives;

	/** Creates the provider; nothing is loaded before it is asked. */
	public DisniProvider() {
		this(false);
	}

	/**
	 * Creates a provider.
	 * @param emulatingSharedReceives whether to do without shared receive queues although
	 * the adapter has them
	 */
	DisniProvider(boolean emulatingSharedReceives) {
		this.emulatingSharedReceives = emulatingSharedReceives;
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
		return DisniAvailability.check();
	}

	@Override
	public List<String> deviceNames() {
		if (!availability().available()) {
			return List.of();
		}
		try {
			return AdapterLibrary.verbs().adapters().stream().map(Adapter::name).toList();
		}
		catch (IOException ex) {
			logger.warn("Devices are not known", ex);
			return List.of();
		}
	}

	@Override
	public VerbsDevice openDevice(@Nullable String name) {
		ProviderAvailability availability = availability();
		if (!availability.available()) {
			throw new VerbsException(VerbsError.UNAVAILABLE, availability.reason());
		}
		try {
			AdapterVerbs verbs = AdapterLibrary.verbs();
			Adapter adapter = choose(verbs, name);
			return DisniDevice.open(this.emulatingSharedReceives
					? adapter.with(adapter.attributes().withoutSharedReceiveQueue()) : adapter, verbs);
		}
		catch (IOException ex) {
			throw new VerbsException(VerbsError.UNAVAILABLE, String.valueOf(ex.getMessage()), ex);
		}
	}

	private static Adapter choose(AdapterVerbs verbs, @Nullable String name) throws IOException {
		List<Adapter> adapters = verbs.adapters();
		if (name != null && AdapterRoute.isAddress(name)) {
			long handle = AdapterRoute.to(InetAddress.getByName(name), verbs);
			return choose(adapters, name, (adapter) -> adapter.handle() == handle);
		}
		return choose(adapters, name, (adapter) -> name == null || adapter.name().equals(name));
	}

	/** The first adapter that is meant. */
	static Adapter choose(List<Adapter> adapters, @Nullable String name, Predicate<Adapter> meant) {
		return adapters.stream()
			.filter(meant)
			.findFirst()
			.orElseThrow(() -> new VerbsException(VerbsError.NO_SUCH_DEVICE,
					"no device " + ((name != null) ? name : "at all") + " (expected: one of "
							+ adapters.stream().map(Adapter::name).collect(Collectors.joining(", "))
							+ ", or an address that one of them reaches)"));
	}

}
