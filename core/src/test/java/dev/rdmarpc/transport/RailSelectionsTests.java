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

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import dev.rdmarpc.verbs.ProviderAvailability;
import dev.rdmarpc.verbs.VerbsDevice;
import dev.rdmarpc.verbs.VerbsException;
import dev.rdmarpc.verbs.VerbsProvider;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Which providers a transport gets. */
class RailSelectionsTests {

	private static final VerbsProvider SHARED = provider("shared", 10, false, true);

	private static final VerbsProvider EVERYWHERE = provider("everywhere", 100, true, true);

	private static final VerbsProvider ADAPTER = provider("adapter", 300, true, true);

	private static final VerbsProvider MISSING = provider("missing", 400, true, false);

	private static List<String> selected(List<String> names, VerbsProvider... providers) {
		return ProviderSelection.selectAll(names, List.of(providers))
			.stream()
			.map((selection) -> selection.provider().name())
			.toList();
	}

	@Test
	void automaticallyAllThatAreAvailableAreTakenThoseOfThisHostFirst() {
		assertThat(selected(TransportOptions.DEFAULTS.providers(), EVERYWHERE, MISSING, SHARED, ADAPTER))
			.containsExactly("shared", "adapter", "everywhere");
		assertThat(selected(List.of(TransportOptions.AUTO), EVERYWHERE, MISSING)).containsExactly("everywhere");
	}

	@Test
	void whatUsesASingleOneGetsTheBestThatReachesOtherHosts() {
		RailSelections selections = RailSelections
			.of(ProviderSelection.selectAll(List.of(TransportOptions.AUTO), List.of(SHARED, EVERYWHERE, ADAPTER)));
		assertThat(selections.main().provider()).isSameAs(ADAPTER);
	}

	@Test
	void thoseThatAreNamedAreTakenInTheirOrderOrNone() {
		assertThat(selected(List.of("everywhere", "shared"), SHARED, EVERYWHERE, ADAPTER)).containsExactly("everywhere",
				"shared");
		assertThatThrownBy(() -> selected(List.of("shared", "missing"), SHARED, MISSING))
			.isInstanceOf(VerbsException.class)
			.hasMessageContaining("Verbs provider 'missing' is not available");
	}

	@Test
	void withoutAnyAvailableTheReasonsAreTold() {
		assertThatThrownBy(() -> selected(List.of(TransportOptions.AUTO), MISSING)).isInstanceOf(VerbsException.class)
			.hasMessageContaining("No verbs provider is available")
			.hasMessageContaining("not in this test");
	}

	private static VerbsProvider provider(String name, int preference, boolean others, boolean available) {
		return new VerbsProvider() {

			@Override
			public String name() {
				return name;
			}

			@Override
			public int preference() {
				return preference;
			}

			@Override
			public boolean reachesOtherHosts() {
				return others;
			}

			@Override
			public ProviderAvailability availability() {
				return available ? ProviderAvailability.available("in this test")
						: ProviderAvailability.unavailable("not in this test");
			}

			@Override
			public List<String> deviceNames() {
				return List.of();
			}

			@Override
			public VerbsDevice openDevice(@Nullable String device) {
				throw new UnsupportedOperationException(name);
			}

		};
	}

}
