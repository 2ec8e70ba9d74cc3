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

package dev.rdmarpc.boot.metrics;

import java.util.Arrays;

import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import org.junit.jupiter.api.Test;

import dev.rdmarpc.memory.MemoryOptions;
import dev.rdmarpc.memory.RegisteredBuffer;
import dev.rdmarpc.memory.RegisteredMemory;
import dev.rdmarpc.transport.RdmaTransport;
import dev.rdmarpc.transport.TransportOptions;

import static org.assertj.core.api.Assertions.assertThat;

class RdmaTransportMetricsTests {

	@Test
	void everyMeterThatIsDocumentedExists() {
		try (RegisteredMemory memory = RegisteredMemory.create(MemoryOptions.DEFAULTS);
				RdmaTransport transport = RdmaTransport.open(TransportOptions.DEFAULTS, memory)) {
			SimpleMeterRegistry registry = new SimpleMeterRegistry();
			new RdmaTransportMetrics(transport).bindTo(registry);
			assertThat(registry.getMeters()).map((meter) -> meter.getId().getName())
				.containsOnly(Arrays.stream(RdmaMeters.values()).map(RdmaMeters::getName).toArray(String[]::new));
		}
	}

	@Test
	void metersOfMemoryFollowIt() {
		try (RegisteredMemory memory = RegisteredMemory.create(MemoryOptions.DEFAULTS);
				RdmaTransport transport = RdmaTransport.open(TransportOptions.DEFAULTS, memory)) {
			SimpleMeterRegistry registry = new SimpleMeterRegistry();
			new RdmaTransportMetrics(transport).bindTo(registry);
			double before = value(registry, RdmaMeters.MEMORY_ALLOCATED);
			RegisteredBuffer buffer = memory.allocate(1024);
			assertThat(value(registry, RdmaMeters.MEMORY_ALLOCATED) - before).isEqualTo(1024);
			assertThat(value(registry, RdmaMeters.MEMORY_EXTENTS_ADDED)).isEqualTo(4);
			buffer.release();
			assertThat(value(registry, RdmaMeters.MEMORY_ALLOCATED)).isEqualTo(before);
			assertThat(value(registry, RdmaMeters.MEMORY_CACHED)).isGreaterThanOrEqualTo(1024);
		}
	}

	private static double value(SimpleMeterRegistry registry, RdmaMeters meter) {
		Meter found = registry.get(meter.getName()).meter();
		return found.measure().iterator().next().getValue();
	}

}
