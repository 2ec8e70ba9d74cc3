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

package dev.rdmarpc.verbs.iwarp;

import java.util.Random;

import com.code_intelligence.jazzer.junit.FuzzTest;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfEnvironmentVariable;

/**
 * Whatever comes in ends in good order. An ordinary build tries a number of random
 * inputs; with {@code JAZZER_FUZZ=1} in the environment Jazzer searches for worse ones.
 * Without it Jazzer stays out, because its agent slows down every test of the virtual
 * machine.
 */
class InboundDecoderFuzzTests {

	private static final int RANDOM_INPUTS = 5_000 * Integer.getInteger("rdmarpc.test.factor", 1);

	private static InboundDecoderTarget target;

	@BeforeAll
	static void open() {
		target = new InboundDecoderTarget();
	}

	@AfterAll
	static void close() {
		target.close();
	}

	@EnabledIfEnvironmentVariable(named = "JAZZER_FUZZ", matches = "1")
	@FuzzTest(maxDuration = "10m")
	void anyStreamEndsInGoodOrder(byte[] input) throws InterruptedException {
		target.run(input);
	}

	@Test
	void randomStreamsEndInGoodOrder() {
		long seed = Long.getLong("rdmarpc.test.seed", 20260730L);
		for (int i = 0; i < RANDOM_INPUTS; i++) {
			Random random = new Random(seed + i);
			byte[] input = new byte[random.nextInt(400)];
			random.nextBytes(input);
			try {
				target.run(input);
			}
			catch (Throwable ex) {
				throw new AssertionError("input of seed " + (seed + i), ex);
			}
		}
	}

}
