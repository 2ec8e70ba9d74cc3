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

package dev.rdmarpc.memory;

import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** How much direct memory Java lets the process have. */
final class DirectMemory {

	private static final Pattern OPTION = Pattern.compile("-XX:MaxDirectMemorySize=(\\d{1,18})([kKmMgGtT]?)");

	private static final String UNITS = "kmgt";

	private static final int UNIT_SHIFT = 10;

	private static final long LIMIT_BYTES = limitBytes(ManagementFactory.getRuntimeMXBean().getInputArguments(),
			Runtime.getRuntime().maxMemory());

	private DirectMemory() {
	}

	/** What a pool can have that grows by extents of such a size. */
	static long mostBytes(int extentBytes) {
		return mostBytes(LIMIT_BYTES, extentBytes);
	}

	/** Extents take one page more each, to begin at one. */
	static long mostBytes(long limitBytes, int extentBytes) {
		long whole = (long) extentBytes + MemoryOptions.PAGE_BYTES;
		long rest = Math.max(0, limitBytes % whole - MemoryOptions.PAGE_BYTES);
		return limitBytes / whole * extentBytes + rest / MemoryOptions.PAGE_BYTES * MemoryOptions.PAGE_BYTES;
	}

	/** What the last of the options says, or as much as the heap may have. */
	static long limitBytes(List<String> arguments, long heapBytes) {
		long limit = 0;
		for (String argument : arguments) {
			Matcher option = OPTION.matcher(argument);
			if (option.matches()) {
				String unit = option.group(2).toLowerCase(Locale.ROOT);
				int shift = unit.isEmpty() ? 0 : UNIT_SHIFT * (UNITS.indexOf(unit) + 1);
				limit = Long.parseLong(option.group(1)) << shift;
			}
		}
		return (limit > 0) ? limit : heapBytes;
	}

}
