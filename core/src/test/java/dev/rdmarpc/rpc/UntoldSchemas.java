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

package dev.rdmarpc.rpc;

import dev.rdmarpc.codec.MessageCodec;
import dev.rdmarpc.codec.MessageFormat;
import dev.rdmarpc.codec.MethodSignature;
import dev.rdmarpc.flatbuffers.FlatBuffersCodec;

/** The codec for FlatBuffers, but for the digests: peers are not compared. */
final class UntoldSchemas implements MessageCodec {

	private final FlatBuffersCodec codec = new FlatBuffersCodec();

	@Override
	public String name() {
		return this.codec.name();
	}

	@Override
	public MessageFormat arguments(MethodSignature method) {
		return this.codec.arguments(method);
	}

	@Override
	public MessageFormat result(MethodSignature method) {
		return this.codec.result(method);
	}

}
