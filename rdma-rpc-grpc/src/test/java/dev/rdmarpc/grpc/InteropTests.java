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

package dev.rdmarpc.grpc;

import java.util.concurrent.TimeUnit;

import org.assertj.core.api.Assertions;
import org.assertj.core.api.SoftAssertions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.runner.JUnitCore;
import org.junit.runner.Result;

/** Runs gRPC's own suite for transports, which is for JUnit 4. */
class InteropTests {

	/** How many tests the suite has. */
	private static final int TESTS = 35;

	@Test
	@Timeout(value = 10, unit = TimeUnit.MINUTES)
	void allTestsOfTheSuitePass() {
		check(RdmaInteropSuite.class);
	}

	@Test
	@Timeout(value = 10, unit = TimeUnit.MINUTES)
	void allTestsOfTheSuitePassWithCompression() {
		check(CompressedInteropSuite.class);
	}

	@Test
	@Timeout(value = 10, unit = TimeUnit.MINUTES)
	void allTestsOfTheSuitePassThroughSharedMemory() {
		check(SharedMemoryInteropSuite.class);
	}

	@Test
	@Timeout(value = 10, unit = TimeUnit.MINUTES)
	void allTestsOfTheSuitePassThroughSharedMemoryWithCompression() {
		check(CompressedSharedMemoryInteropSuite.class);
	}

	private static void check(Class<?> suite) {
		Result result = JUnitCore.runClasses(suite);
		SoftAssertions.assertSoftly((softly) -> result.getFailures()
			.forEach((failure) -> softly.fail(failure.getTestHeader() + ": " + failure.getTrace())));
		Assertions.assertThat(result.getRunCount()).isEqualTo(TESTS);
		Assertions.assertThat(result.getIgnoreCount()).isZero();
		Assertions.assertThat(result.getAssumptionFailureCount()).isZero();
	}

}
