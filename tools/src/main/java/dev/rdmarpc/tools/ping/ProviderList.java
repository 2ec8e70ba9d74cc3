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

package dev.rdmarpc.tools.ping;

import java.io.PrintWriter;
import java.util.Comparator;
import java.util.List;

import dev.rdmarpc.verbs.DeviceLimits;
import dev.rdmarpc.verbs.ProviderAvailability;
import dev.rdmarpc.verbs.VerbsDevice;
import dev.rdmarpc.verbs.VerbsException;
import dev.rdmarpc.verbs.VerbsProvider;

/** All providers, whether they can work here, why not, and their devices. */
public final class ProviderList {

	private final List<VerbsProvider> providers;

	/** Creates the list of these. */
	public ProviderList(List<VerbsProvider> providers) {
		this.providers = providers.stream()
			.sorted(Comparator.comparingInt(VerbsProvider::preference).reversed())
			.toList();
	}

	/** Prints it for a reader, the best provider first. */
	public void print(PrintWriter out) {
		for (VerbsProvider provider : this.providers) {
			ProviderAvailability availability = provider.availability();
			out.println(provider.name() + ": " + (availability.available() ? "available" : "NOT available") + ", "
					+ availability.reason());
			if (availability.available()) {
				provider.deviceNames().forEach((name) -> out.println("  " + name + ": " + describe(provider, name)));
			}
		}
		out.flush();
	}

	private static String describe(VerbsProvider provider, String name) {
		try (VerbsDevice device = provider.openDevice(name)) {
			DeviceLimits limits = device.limits();
			return limits.maxQueuePairs() + " queue pairs, " + limits.maxReadDepth() + " Reads outstanding, "
					+ limits.maxSendSegments() + " segments, " + yesOrNo(limits.sharedReceiveQueue())
					+ " shared receive queues, " + yesOrNo(limits.sendWithInvalidate()) + " Send with Invalidate";
		}
		catch (VerbsException ex) {
			return "cannot be opened: " + ex.getMessage();
		}
	}

	private static String yesOrNo(boolean has) {
		return has ? "with" : "without";
	}

}
