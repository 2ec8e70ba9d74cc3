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

package dev.rdmarpc.boot.autoconfigure;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

import io.micrometer.common.docs.KeyName;
import io.micrometer.core.instrument.docs.MeterDocumentation;
import io.micrometer.observation.ObservationConvention;
import org.junit.jupiter.api.Test;
import org.springframework.beans.BeanUtils;

import dev.rdmarpc.boot.metrics.RdmaClientMeters;
import dev.rdmarpc.boot.metrics.RdmaMeters;
import dev.rdmarpc.boot.metrics.RdmaServerMeters;
import dev.rdmarpc.boot.observation.RdmaObservationDocumentation;

import static org.assertj.core.api.Assertions.assertThat;

/** The tables of meters and observations are those of the documentation enums. */
class DocumentedMetersTests {

	private static final Path GUIDE = Documentation.ROOT.resolve("docs/observability.md");

	@Test
	void everyMeterIsInTheGuide() throws Exception {
		checkMeters("## Meters of the transport", RdmaMeters.values());
		checkMeters("## Meters of clients", RdmaClientMeters.values());
		checkMeters("## Meters of the server", RdmaServerMeters.values());
	}

	private static void checkMeters(String heading, MeterDocumentation[] meters) throws IOException {
		List<List<String>> expected = new ArrayList<>();
		for (MeterDocumentation meter : meters) {
			expected.add(List.of("`" + meter.getName() + "`", meter.getType().name().toLowerCase(Locale.ROOT),
					String.valueOf(meter.getBaseUnit()), names(meter.getKeyNames())));
		}
		assertThat(Documentation.rows(GUIDE, heading)).allSatisfy((row) -> assertThat(row.get(4)).isNotEmpty())
			.extracting((row) -> row.subList(0, 4))
			.containsExactlyElementsOf(expected);
	}

	@Test
	void everyObservationIsInTheGuide() throws Exception {
		List<List<String>> expected = new ArrayList<>();
		for (RdmaObservationDocumentation observation : RdmaObservationDocumentation.values()) {
			ObservationConvention<?> convention = BeanUtils.instantiateClass(observation.getDefaultConvention());
			expected.add(List.of("`" + convention.getName() + "`", names(observation.getLowCardinalityKeyNames()),
					names(observation.getHighCardinalityKeyNames())));
		}
		assertThat(Documentation.rows(GUIDE, "## Observations of calls"))
			.allSatisfy((row) -> assertThat(row.get(3)).isNotEmpty())
			.extracting((row) -> row.subList(0, 3))
			.containsExactlyElementsOf(expected);
	}

	private static String names(KeyName[] keyNames) {
		if (keyNames.length == 0) {
			return "–";
		}
		return String.join(", ", Arrays.stream(keyNames).map((key) -> "`" + key.asString() + "`").toList());
	}

}
