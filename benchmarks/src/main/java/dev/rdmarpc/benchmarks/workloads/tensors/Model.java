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

import java.util.ArrayList;
import java.util.List;

/**
 * The sizes of a network's parameters in bytes, as 32-bit numbers, in the order in which
 * the next step needs them. Gradients come about in the reverse order.
 */
public enum Model {

	/** ResNet-50 with its normalization, 107 tensors of 1 KiB to 9 MiB, 102 MB. */
	RESNET50 {

		@Override
		List<Integer> make() {
			List<Integer> sizes = new ArrayList<>();
			convolution(sizes, 7, 3, 64, true);
			int[] blocks = { 3, 4, 6, 3 };
			int from = 64;
			for (int stage = 0; stage < blocks.length; stage++) {
				int width = 64 << stage;
				for (int block = 0; block < blocks[stage]; block++) {
					convolution(sizes, 1, from, width, true);
					convolution(sizes, 3, width, width, true);
					convolution(sizes, 1, width, 4 * width, true);
					if (block == 0) {
						convolution(sizes, 1, from, 4 * width, true);
					}
					from = 4 * width;
				}
			}
			sizes.add(4 * (from + 1) * 1000);
			return sizes;
		}

	},

	/**
	 * VGG-16 without its first dense layer, which alone has three quarters of its
	 * parameters: 15 tensors of 7 KiB to 64 MiB, 142 MB.
	 */
	VGG16 {

		@Override
		List<Integer> make() {
			List<Integer> sizes = new ArrayList<>();
			int[] widths = { 64, 64, 128, 128, 256, 256, 256, 512, 512, 512, 512, 512, 512 };
			int from = 3;
			for (int width : widths) {
				convolution(sizes, 3, from, width, false);
				from = width;
			}
			sizes.add(4 * 4096 * 4096);
			sizes.add(4 * 4097 * 1000);
			return sizes;
		}

	},

	/** Few tensors of both kinds, for a test. */
	SMALL {

		@Override
		List<Integer> make() {
			return List.of(4 << 10, 1 << 20, 16 << 10, 256 << 10, 4 << 10, 3 << 20, 40 << 10);
		}

	};

	@SuppressWarnings("ImmutableEnumChecker") // a copy that nobody can change
	private final List<Integer> sizes = List.copyOf(make());

	abstract List<Integer> make();

	/** The sizes, in the order of need. */
	public List<Integer> sizes() {
		return this.sizes;
	}

	/** All sizes together. */
	public long totalBytes() {
		return this.sizes.stream().mapToLong(Integer::longValue).sum();
	}

	/**
	 * Which of so many servers has which tensor: each goes to the server that has the
	 * fewest bytes so far.
	 */
	List<Integer> placement(int servers) {
		long[] bytes = new long[servers];
		List<Integer> placement = new ArrayList<>();
		for (int size : this.sizes) {
			int least = 0;
			for (int server = 1; server < servers; server++) {
				least = (bytes[server] < bytes[least]) ? server : least;
			}
			bytes[least] += size;
			placement.add(least);
		}
		return placement;
	}

	private static void convolution(List<Integer> sizes, int kernel, int from, int to, boolean normalized) {
		sizes.add(4 * kernel * kernel * from * to);
		if (normalized) {
			sizes.add(4 * 4 * to);
		}
	}

}
