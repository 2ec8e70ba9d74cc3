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

package dev.rdmarpc.benchmarks.workloads.grpc;

import java.io.InputStream;
import java.util.function.Function;

import io.grpc.MethodDescriptor.Marshaller;

import dev.rdmarpc.benchmarks.compare.grpc.PayloadMarshaller;

/**
 * Marshals messages of one type by way of their bytes.
 *
 * @param <T> the type
 */
record MessageMarshaller<T>(Function<T, byte[]> encode, Function<byte[], T> decode) implements Marshaller<T> {

	private static final PayloadMarshaller BYTES = new PayloadMarshaller();

	@Override
	public InputStream stream(T value) {
		return BYTES.stream(this.encode.apply(value));
	}

	@Override
	public T parse(InputStream stream) {
		return this.decode.apply(BYTES.parse(stream));
	}

}
