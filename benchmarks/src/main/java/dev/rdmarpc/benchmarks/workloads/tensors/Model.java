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
import java.util.stream.Stream;

/**
 * The sizes of a network's parameters in bytes, as 32-bit numbers, in the order in which
 * the next step needs them, and the work of its passes. Gradients come about in the
 * reverse order.
 */
public enum Model {

	/** ResNet-50 with its normalization, 107 tensors of 1 KiB to 9 MiB, 102 MB. */
	RESNET50 {

		@Override
		List<Layer> make() {
			List<Layer> layers = new ArrayList<>();
			convolution(layers, 7, 3, 64, 112, true);
			int[] blocks = { 3, 4, 6, 3 };
			int from = 64;
			for (int stage = 0; stage < blocks.length; stage++) {
				int width = 64 << stage;
				int side = 56 >> stage;
				for (int block = 0; block < blocks[stage]; block++) {
					convolution(layers, 1, from, width, side, true);
					convolution(layers, 3, width, width, side, true);
					convolution(layers, 1, width, 4 * width, side, true);
					if (block == 0) {
						convolution(layers, 1, from, 4 * width, side, true);
					}
					from = 4 * width;
				}
			}
			layers.add(Layer.dense(from, 1000, 1));
			return layers;
		}

	},

	/**
	 * VGG-16 without its first dense layer, which alone has three quarters of its
	 * parameters: 15 tensors of 7 KiB to 64 MiB, 142 MB.
	 */
	VGG16 {

		@Override
		List<Layer> make() {
			List<Layer> layers = new ArrayList<>();
			int[] widths = { 64, 64, 128, 128, 256, 256, 256, 512, 512, 512, 512, 512, 512 };
			int[] sides = { 224, 224, 112, 112, 56, 56, 56, 28, 28, 28, 14, 14, 14 };
			int from = 3;
			for (int i = 0; i < widths.length; i++) {
				convolution(layers, 3, from, widths[i], sides[i], false);
				from = widths[i];
			}
			layers.add(Layer.dense(4096, 4096, 0));
			layers.add(Layer.dense(4096, 1000, 1));
			return layers;
		}

	},

	/** Few tensors of both kinds, for a test. */
	SMALL {

		@Override
		List<Layer> make() {
			return Stream.of(4 << 10, 1 << 20, 16 << 10, 256 << 10, 4 << 10, 3 << 20, 40 << 10)
				.map((bytes) -> new Layer(bytes, 1))
				.toList();
		}

	};

	@SuppressWarnings("ImmutableEnumChecker") // a copy that nobody can change
	private final List<Layer> layers = List.copyOf(make());

	@SuppressWarnings("ImmutableEnumChecker") // the same
	private final List<Integer> sizes = this.layers.stream().map(Layer::bytes).toList();

	abstract List<Layer> make();

	/** The sizes, in the order of need. */
	public List<Integer> sizes() {
		return this.sizes;
	}

	/** All sizes together. */
	public long totalBytes() {
		return this.sizes.stream().mapToLong(Integer::longValue).sum();
	}

	/**
	 * How much of a forward pass that takes so long is the part of each tensor, by the
	 * multiplications of one image.
	 */
	long[] forwardNanos(long nanos) {
		double total = this.layers.stream().mapToLong(Layer::multiplications).sum();
		return this.layers.stream().mapToLong((layer) -> (long) (nanos * (layer.multiplications() / total))).toArray();
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

	private static void convolution(List<Layer> layers, int kernel, int from, int to, int side, boolean normalized) {
		int parameters = kernel * kernel * from * to;
		layers.add(new Layer(4 * parameters, (long) parameters * side * side));
		if (normalized) {
			layers.add(new Layer(4 * 4 * to, (long) to * side * side));
		}
	}

	/**
	 * A tensor and what it is needed for.
	 *
	 * @param bytes of its parameters, four for each
	 * @param multiplications for one image
	 */
	record Layer(int bytes, long multiplications) {

		/** One where each input has to do with each output. */
		static Layer dense(int from, int to, int biases) {
			return new Layer(4 * (from + biases) * to, (long) from * to);
		}

	}

}
