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

package dev.rdmarpc.benchmarks.workloads.store;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** The bytes of YCSB's values as features, and back, bit by bit. */
final class FeatureBytes {

	private FeatureBytes() {
	}

	/**
	 * Four bytes each as one feature.
	 * @throws IllegalArgumentException if some are left over
	 */
	static float[] toFeatures(byte[] bytes) {
		if (bytes.length % Float.BYTES != 0) {
			throw new IllegalArgumentException(bytes.length + " bytes (expected: a multiple of " + Float.BYTES + ")");
		}
		float[] features = new float[bytes.length / Float.BYTES];
		ByteBuffer.wrap(bytes).order(ByteOrder.nativeOrder()).asFloatBuffer().get(features);
		return features;
	}

	static byte[] toBytes(float[] features) {
		byte[] bytes = new byte[features.length * Float.BYTES];
		ByteBuffer.wrap(bytes).order(ByteOrder.nativeOrder()).asFloatBuffer().put(features);
		return bytes;
	}

}
