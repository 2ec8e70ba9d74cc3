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

import java.util.concurrent.TimeUnit;
import java.util.function.ToDoubleFunction;

import io.micrometer.common.docs.KeyName;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.FunctionTimer;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;

/**
 * Registers meters as they are documented.
 *
 * @param <T> the type of the source
 * @param registry where they are registered
 * @param source what they read; the registry does not keep it
 * @param tags the tags of each
 */
record SourceMeters<T>(MeterRegistry registry, T source, Tags tags) {

	/** Meters without tags. */
	static <T> SourceMeters<T> of(MeterRegistry registry, T source) {
		return new SourceMeters<>(registry, source, Tags.empty());
	}

	/** The same with one more tag. */
	SourceMeters<T> with(KeyName key, String value) {
		return new SourceMeters<>(this.registry, this.source, this.tags.and(key.asString(), value));
	}

	void gauge(DescribedMeter meter, ToDoubleFunction<T> value) {
		Gauge.builder(meter.getName(), this.source, value)
			.tags(this.tags)
			.description(meter.description())
			.baseUnit(meter.registeredUnit())
			.register(this.registry);
	}

	void counter(DescribedMeter meter, ToDoubleFunction<T> count) {
		FunctionCounter.builder(meter.getName(), this.source, count)
			.tags(this.tags)
			.description(meter.description())
			.baseUnit(meter.registeredUnit())
			.register(this.registry);
	}

	/** A timer of what is counted and took so many nanoseconds in all. */
	void timer(DescribedMeter meter, ToDoubleFunction<T> count, ToDoubleFunction<T> nanos) {
		FunctionTimer
			.builder(meter.getName(), this.source, (owner) -> (long) count.applyAsDouble(owner), nanos,
					TimeUnit.NANOSECONDS)
			.description(meter.description())
			.tags(this.tags)
			.register(this.registry);
	}

}
