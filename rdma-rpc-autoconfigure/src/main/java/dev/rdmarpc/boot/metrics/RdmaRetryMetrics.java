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

import dev.rdmarpc.boot.retry.RetryListener;
import dev.rdmarpc.rpc.MethodDescriptor;
import dev.rdmarpc.rpc.RpcException;

/** Counts calls that are made again, in {@link RdmaClientMeters#RETRIES}. */
public class RdmaRetryMetrics implements MeterBinder, RetryListener {

	private final List<MeterRegistry> registries = new CopyOnWriteArrayList<>();

	@Override
	public void bindTo(MeterRegistry registry) {
		this.registries.add(registry);
	}

	@Override
	public void retrying(String target, MethodDescriptor method, int retry, RpcException failure) {
		for (MeterRegistry registry : this.registries) {
			Counter.builder(RdmaClientMeters.RETRIES.getName())
				.description(RdmaClientMeters.RETRIES.description())
				.baseUnit(RdmaClientMeters.RETRIES.getBaseUnit())
				.tag(RdmaClientMeters.KeyNames.TARGET.asString(), target)
				.tag(RdmaClientMeters.RetryKeyNames.SERVICE.asString(), method.service())
				.tag(RdmaClientMeters.RetryKeyNames.METHOD.asString(), method.name())
				.tag(RdmaClientMeters.RetryKeyNames.STATUS.asString(), failure.status().name())
				.register(registry)
				.increment();
		}
	}

}
