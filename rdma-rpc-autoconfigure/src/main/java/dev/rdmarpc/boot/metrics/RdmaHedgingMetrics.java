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

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.MeterBinder;

import dev.rdmarpc.rpc.HedgingListener;
import dev.rdmarpc.rpc.MethodDescriptor;

/**
 * Counts the further attempts of calls that are hedged, in
 * {@link RdmaClientMeters#HEDGES} and those that follow it.
 */
public class RdmaHedgingMetrics implements MeterBinder, HedgingListener {

	private final List<MeterRegistry> registries = new CopyOnWriteArrayList<>();

	@Override
	public void bindTo(MeterRegistry registry) {
		this.registries.add(registry);
	}

	@Override
	public void hedged(String target, MethodDescriptor method, int attempt) {
		count(RdmaClientMeters.HEDGES, target, method);
	}

	@Override
	public void won(String target, MethodDescriptor method, int attempt) {
		count(RdmaClientMeters.HEDGES_WON, target, method);
	}

	@Override
	public void suppressed(String target, MethodDescriptor method) {
		count(RdmaClientMeters.HEDGES_SUPPRESSED, target, method);
	}

	private void count(RdmaClientMeters meter, String target, MethodDescriptor method) {
		for (MeterRegistry registry : this.registries) {
			Counter.builder(meter.getName())
				.description(meter.description())
				.baseUnit(meter.getBaseUnit())
				.tag(RdmaClientMeters.KeyNames.TARGET.asString(), target)
				.tag(RdmaClientMeters.MethodKeyNames.SERVICE.asString(), method.service())
				.tag(RdmaClientMeters.MethodKeyNames.METHOD.asString(), method.name())
				.register(registry)
				.increment();
		}
	}

}
