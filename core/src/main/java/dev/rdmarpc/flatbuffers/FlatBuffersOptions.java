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

package dev.rdmarpc.flatbuffers;

/**
 * Limits and thresholds of the FlatBuffers codec.
 *
 * @param gatherThreshold least number of bytes of a {@code byte[]} or {@code ByteBuffer}
 * that is referenced where it is and not copied, at least 0
 * @param maxDepth tables nested in each other at most, on both sides, from 1 to 1000
 * @param maxAmplification how many bytes a received message may make its reader visit and
 * allocate per byte of its own, beyond the first 64 KiB, at least 1
 * @param maxDecodedBytes heap that the values of received messages may take at once, at
 * least 1 MiB; messages whose values take up to 64 KiB are not counted
 */
public record FlatBuffersOptions(int gatherThreshold, int maxDepth, int maxAmplification, long maxDecodedBytes) {

	/** The least of {@link #maxDecodedBytes()}. */
	public static final long MIN_DECODED_BYTES = 1024 * 1024;

	/**
	 * 512 bytes are referenced; the nesting of FlatBuffers' own verifier, 64; the
	 * amplification of sets of small numbers and a little more, 40; a quarter of the heap
	 * for decoded values.
	 */
	public static final FlatBuffersOptions DEFAULTS = new FlatBuffersOptions(512, 64, 40,
			Math.max(MIN_DECODED_BYTES, Runtime.getRuntime().maxMemory() / 4));

	/** Checks the values. */
	public FlatBuffersOptions {
		check("gatherThreshold", gatherThreshold, 0, Integer.MAX_VALUE);
		check("maxDepth", maxDepth, 1, 1000);
		check("maxAmplification", maxAmplification, 1, Integer.MAX_VALUE);
		if (maxDecodedBytes < MIN_DECODED_BYTES) {
			throw new IllegalArgumentException(
					"maxDecodedBytes " + maxDecodedBytes + " (expected: at least " + MIN_DECODED_BYTES + ")");
		}
	}

	/** These options with another threshold for references. */
	public FlatBuffersOptions withGatherThreshold(int bytes) {
		return new FlatBuffersOptions(bytes, this.maxDepth, this.maxAmplification, this.maxDecodedBytes);
	}

	/** These options with another limit of what received values take of the heap. */
	public FlatBuffersOptions withMaxDecodedBytes(long bytes) {
		return new FlatBuffersOptions(this.gatherThreshold, this.maxDepth, this.maxAmplification, bytes);
	}

	private static void check(String name, int value, int min, int max) {
		if (value < min || value > max) {
			throw new IllegalArgumentException(name + " " + value + " (expected: "
					+ ((max == Integer.MAX_VALUE) ? "at least " + min : "from " + min + " to " + max) + ")");
		}
	}

}
