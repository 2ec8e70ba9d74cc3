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

import java.util.List;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import dev.rdmarpc.NoHeap;

import static org.assertj.core.api.Assertions.assertThat;

/** Steps that find no memory on the heap lose neither a reference nor a call. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@Tag("slow")
class NoHeapStepTests {

	@ParameterizedTest
	@ValueSource(strings = { "slice", "segment", "received part", "call too many", "retired channel" })
	void nothingIsLost(String step) throws Exception {
		List<String> lines = NoHeap.linesOf(NoHeapSteps.class, step);
		assertThat(lines).as(String.join("\n", lines)).last().isEqualTo(NoHeapSteps.GOOD);
	}

}
