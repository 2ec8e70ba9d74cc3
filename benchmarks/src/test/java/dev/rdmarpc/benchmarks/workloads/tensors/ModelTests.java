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

package dev.rdmarpc.benchmarks.workloads.tensors;

import java.util.List;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class ModelTests {

	/** 25,557,032 parameters that are trained, and two more per channel that are not. */
	@Test
	void residualNetworkHasItsParameters() {
		assertThat(Model.RESNET50.sizes()).hasSize(107);
		assertThat(Model.RESNET50.totalBytes()).isEqualTo(4L * (25_557_032 + 2 * 26_560));
	}

	/** 14,710,464 of convolutions without bias, and two dense layers. */
	@Test
	void deepNetworkHasItsParameters() {
		assertThat(Model.VGG16.sizes()).hasSize(15).contains(64 << 20);
		assertThat(Model.VGG16.totalBytes()).isEqualTo(4L * (14_710_464 + 4096 * 4096 + 4097 * 1000));
	}

	@Test
	void serversHaveNearlyTheSameNumberOfBytes() {
		List<Integer> placement = Model.RESNET50.placement(2);
		long first = 0;
		for (int i = 0; i < placement.size(); i++) {
			first += (placement.get(i) == 0) ? Model.RESNET50.sizes().get(i) : 0;
		}
		assertThat(2.0 * first / Model.RESNET50.totalBytes()).isBetween(0.9, 1.1);
	}

}
