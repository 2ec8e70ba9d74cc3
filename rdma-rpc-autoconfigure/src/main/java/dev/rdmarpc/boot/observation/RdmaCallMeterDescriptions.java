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

package dev.rdmarpc.boot.observation;

import java.util.Map;

import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.config.MeterFilter;

/**
 * Describes the timers of calls. Handlers of observations create these by their names
 * alone.
 */
public class RdmaCallMeterDescriptions implements MeterFilter {

	private static final Map<String, String> DESCRIPTIONS = Map.of(DefaultRdmaClientObservationConvention.NAME,
			"Calls that this application has made, from encoding to decoding.",
			DefaultRdmaClientObservationConvention.NAME + ".active",
			"Calls that this application is making, for how long by now.", DefaultRdmaServerObservationConvention.NAME,
			"Calls that this application has served, from their begin to the encoded reply, waits for a thread included.",
			DefaultRdmaServerObservationConvention.NAME + ".active",
			"Calls that this application is serving, for how long by now.");

	@Override
	public Meter.Id map(Meter.Id id) {
		String description = DESCRIPTIONS.get(id.getName());
		return (description == null || id.getDescription() != null) ? id : new Meter.Id(id.getName(),
				Tags.of(id.getTagsAsIterable()), id.getBaseUnit(), description, id.getType());
	}

}
