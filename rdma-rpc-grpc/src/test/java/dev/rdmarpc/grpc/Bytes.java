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

package dev.rdmarpc.grpc;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;

import io.grpc.KnownLength;
import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.Marshaller;
import io.grpc.MethodDescriptor.MethodType;
import io.grpc.ServerCallHandler;
import io.grpc.ServerServiceDefinition;
import io.grpc.stub.ServerCalls;

/** Methods with arrays as messages. */
final class Bytes {

	static final String SERVICE = "test.Bytes";

	static final MethodDescriptor<byte[], byte[]> UNARY = method("Unary", MethodType.UNARY);

	static final MethodDescriptor<byte[], byte[]> SERVER = method("Server", MethodType.SERVER_STREAMING);

	static final MethodDescriptor<byte[], byte[]> CLIENT = method("Client", MethodType.CLIENT_STREAMING);

	static final MethodDescriptor<byte[], byte[]> BIDI = method("Bidi", MethodType.BIDI_STREAMING);

	private Bytes() {
	}

	private static MethodDescriptor<byte[], byte[]> method(String name, MethodType type) {
		return MethodDescriptor.<byte[], byte[]>newBuilder()
			.setType(type)
			.setFullMethodName(MethodDescriptor.generateFullMethodName(SERVICE, name))
			.setRequestMarshaller(new ArrayMarshaller())
			.setResponseMarshaller(new ArrayMarshaller())
			.build();
	}

	static ServerServiceDefinition unary(ServerCalls.UnaryMethod<byte[], byte[]> handler) {
		return of(UNARY, ServerCalls.asyncUnaryCall(handler));
	}

	static ServerServiceDefinition of(MethodDescriptor<byte[], byte[]> method,
			ServerCallHandler<byte[], byte[]> handler) {
		return ServerServiceDefinition.builder(SERVICE).addMethod(method, handler).build();
	}

	private static final class ArrayMarshaller implements Marshaller<byte[]> {

		@Override
		public InputStream stream(byte[] value) {
			return new ArrayStream(value);
		}

		@Override
		public byte[] parse(InputStream stream) {
			try {
				return stream.readAllBytes();
			}
			catch (IOException ex) {
				throw new UncheckedIOException(ex);
			}
		}

	}

	private static final class ArrayStream extends ByteArrayInputStream implements KnownLength {

		ArrayStream(byte[] value) {
			super(value);
		}

	}

}
