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

import java.time.Duration;
import java.util.HashSet;
import java.util.List;

import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.util.unit.DataSize;

/** Rejects invalid values of properties, naming property, value and what was expected. */
final class PropertyCheck {

	private PropertyCheck() {
	}

	static void that(boolean valid, String name, Object value, String expected) {
		if (!valid) {
			throw new InvalidConfigurationPropertyValueException(name, value, "Expected: " + expected + ".");
		}
	}

	static int range(String name, int value, int min, int max) {
		that(value >= min && value <= max, name, value,
				(max == Integer.MAX_VALUE) ? "at least " + min : "from " + min + " to " + max);
		return value;
	}

	/** Names of providers. */
	static List<String> names(String name, List<String> values) {
		that(values.stream().noneMatch(String::isBlank) && new HashSet<>(values).size() == values.size(), name, values,
				"names of providers, each once");
		return values;
	}

	/** A size that is an {@code int} in the core. */
	static int bytes(String name, DataSize value, int min, int max, int multiple) {
		long bytes = value.toBytes();
		that(bytes >= min && bytes <= max && bytes % multiple == 0, name, value,
				((multiple > 1) ? "a multiple of " + multiple + "B " : "") + "from " + min + "B to " + max + "B");
		return (int) bytes;
	}

	/** A timeout that may be zero. */
	static Duration notNegative(String name, Duration value) {
		that(!value.isNegative() && isNanos(value), name, value, "not negative, at most 365 days");
		return value;
	}

	static Duration positive(String name, Duration value) {
		that(!value.isNegative() && !value.isZero() && isNanos(value), name, value, "positive, at most 365 days");
		return value;
	}

	/** Whether the core's clocks and timers can represent it. */
	private static boolean isNanos(Duration value) {
		return value.compareTo(Duration.ofDays(365)) <= 0;
	}

}
