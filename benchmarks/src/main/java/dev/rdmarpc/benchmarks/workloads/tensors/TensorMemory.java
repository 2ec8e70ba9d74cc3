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

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Where tensors are.
 *
 * @param <T> the type that a call takes and returns
 */
public interface TensorMemory<T> {

	/** Tensors in arrays. */
	TensorMemory<byte[]> ARRAYS = new TensorMemory<>() {

		@Override
		public byte[] allocate(int bytes) {
			return new byte[bytes];
		}

		@Override
		public ByteBuffer bytes(byte[] tensor) {
			return ByteBuffer.wrap(tensor).order(ByteOrder.nativeOrder());
		}

		@Override
		public void release(byte[] tensor) {
			// the collector does
		}

	};

	/** Makes a tensor that the caller has to release. */
	T allocate(int bytes);

	/** All of its bytes, in the processor's order. */
	ByteBuffer bytes(T tensor);

	/** Takes ownership of a tensor and gives its memory back. */
	void release(T tensor);

}
