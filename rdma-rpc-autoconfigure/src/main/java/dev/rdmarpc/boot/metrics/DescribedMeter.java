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

import java.util.Locale;

import io.micrometer.core.instrument.docs.MeterDocumentation;
import org.jspecify.annotations.Nullable;

/** A meter that says what it means. */
interface DescribedMeter extends MeterDocumentation {

	/** What it means, in one sentence. */
	String description();

	/**
	 * The unit to register, or {@code null} if the name contains it: monitoring systems
	 * would append it once more.
	 */
	default @Nullable String registeredUnit() {
		String unit = String.valueOf(getBaseUnit());
		return letters(getName()).contains(letters(unit)) ? null : unit;
	}

	private static String letters(String text) {
		return text.toLowerCase(Locale.ROOT).replaceAll("[^a-z]", "");
	}

}
