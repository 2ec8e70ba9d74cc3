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

import java.util.Arrays;
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

	/** 3.86 and 15.35 thousand million of convolutions and dense layers, as published. */
	@Test
	void passesTakeTheTimeOfTheirMultiplications() {
		long[] residual = Model.RESNET50.forwardNanos(4_000_000_000L);
		assertThat(Arrays.stream(residual).sum()).isBetween(3_999_999_000L, 4_000_000_000L);
		assertThat(residual[0]).as("7 x 7 x 3 x 64 on 112 x 112, of 3,857,973,248 and 10,587,136 to normalize")
			.isBetween(121_900_000L, 122_200_000L);
		long[] deep = Model.VGG16.forwardNanos(1_000_000_000L);
		assertThat(deep[13] + deep[14]).as("dense layers, of 15,346,630,656 and 20,873,216")
			.isBetween(1_350_000L, 1_370_000L);
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
