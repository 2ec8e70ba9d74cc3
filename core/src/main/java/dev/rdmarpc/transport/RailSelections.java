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

package dev.rdmarpc.transport;

import java.util.List;

/**
 * The providers that become the rails of a transport.
 *
 * @param all in order of preference, at least one
 */
public record RailSelections(List<ProviderSelection> all) {

	/**
	 * Copies the list.
	 * @throws IllegalArgumentException if it is empty
	 */
	public RailSelections {
		all = List.copyOf(all);
		if (all.isEmpty()) {
			throw new IllegalArgumentException("no providers (expected: at least one)");
		}
	}

	/** Selections of providers. */
	public static RailSelections of(List<ProviderSelection> all) {
		return new RailSelections(all);
	}

	/** That of {@link RdmaTransport#rail()}. */
	public ProviderSelection main() {
		return this.all.stream()
			.filter((selection) -> selection.provider().reachesOtherHosts())
			.findFirst()
			.orElse(this.all.get(0));
	}

}
