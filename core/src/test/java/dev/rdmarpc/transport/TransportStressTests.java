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

package dev.rdmarpc.transport;

import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import dev.rdmarpc.StressRun;

/** Runs the jcstress tests of the package. */
@Tag("slow")
class TransportStressTests {

	/** A state may take as long as a follower to take over. */
	private static final String[] FEW_STATES_AT_A_TIME = { "-fsm", "1", "-strideSize", "8", "-strideCount", "2" };

	@Test
	@Timeout(value = 10, unit = TimeUnit.MINUTES)
	void onlyAcceptableOutcomesAreSeen(@TempDir Path directory) throws Exception {
		StressRun.of(TransportStressTests.class.getPackage(), 13, directory, FEW_STATES_AT_A_TIME);
	}

}
