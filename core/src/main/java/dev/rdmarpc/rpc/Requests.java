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

import java.nio.ByteBuffer;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.codec.CodecException;
import dev.rdmarpc.codec.MessageSegments;
import dev.rdmarpc.codec.MessageTooLargeException;
import dev.rdmarpc.logging.FailureText;
import dev.rdmarpc.memory.MemoryExhaustedException;
import dev.rdmarpc.verbs.VerbsException;

/** Encodes requests that are made later, and says why one cannot be encoded. */
final class Requests {

	private Requests() {
	}

	/** What a call that is made later, perhaps several times, is made with. */
	static byte[] encoded(MethodDescriptor method, @Nullable Object[] arguments, int maxBytes) {
		MessageSegments segments = SegmentsPool.claim();
		try {
			segments.maxBytes(maxBytes);
			method.arguments().encode(arguments, segments);
			byte[] bytes = new byte[segments.totalBytes()];
			segments.copyTo(ByteBuffer.wrap(bytes));
			return bytes;
		}
		catch (Throwable ex) {
			throw cannotBeEncoded(method, ex);
		}
		finally {
			SegmentsPool.giveBack(segments);
		}
	}

	/** The same, or why it cannot be. */
	static Object encodedOrFailure(MethodDescriptor method, @Nullable Object[] arguments, int maxBytes) {
		try {
			return encoded(method, arguments, maxBytes);
		}
		catch (RpcException ex) {
			return ex;
		}
	}

	/** What a call fails with whose deadline has passed while it waited for memory. */
	static RpcException late(MethodDescriptor method, MemoryExhaustedException why) {
		return new RpcException(RpcStatus.DEADLINE_EXCEEDED,
				"the deadline passed before the call was sent: " + why.getMessage(), method.service(), method.name(),
				why)
			.beforeExecution();
	}

	/** Why a request cannot be encoded, as its caller is told. */
	static RpcException cannotBeEncoded(MethodDescriptor method, Throwable why) {
		if (why instanceof MessageTooLargeException) {
			return new RpcException(RpcStatus.RESOURCE_EXHAUSTED, "request too large: " + why.getMessage(),
					method.service(), method.name(), why);
		}
		if (why instanceof CodecException) {
			return new RpcException(RpcStatus.INVALID_ARGUMENT, "arguments cannot be encoded: " + why.getMessage(),
					method.service(), method.name(), why);
		}
		if (why instanceof MemoryExhaustedException || why instanceof VerbsException) {
			return new RpcException(RpcStatus.RESOURCE_EXHAUSTED, String.valueOf(why.getMessage()), method.service(),
					method.name(), why)
				.beforeExecution();
		}
		return new RpcException(RpcStatus.INTERNAL, "request cannot be prepared: " + FailureText.of(why),
				method.service(), method.name(), why);
	}

}
