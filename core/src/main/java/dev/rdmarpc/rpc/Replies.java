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
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.codec.CodecException;
import dev.rdmarpc.codec.MessageFormat;
import dev.rdmarpc.codec.MessageSegments;
import dev.rdmarpc.codec.ReceivedMemory;
import dev.rdmarpc.codec.ValuesTooLargeException;
import dev.rdmarpc.logging.FailureText;
import dev.rdmarpc.memory.RegisteredBuffer;
import dev.rdmarpc.memory.VirtualThreads;
import dev.rdmarpc.transport.CallFailure;
import dev.rdmarpc.transport.IncomingMessage;

/** What a reply means to its caller. */
final class Replies {

	/** In the metadata of replies to calls that the server has refused. */
	static final String REFUSED_KEY = "rdma-refused";

	private static final int MAX_DETAIL_BYTES = 1024;

	private static final ThreadLocal<ReceivedMemory> RECEIVED = ThreadLocal.withInitial(ReceivedMemory::given);

	private Replies() {
	}

	/** What the current thread decodes replies from; for one reply at a time. */
	static ReceivedMemory received() {
		return VirtualThreads.isVirtual(Thread.currentThread()) ? ReceivedMemory.given() : RECEIVED.get();
	}

	/** Keeps the metadata of a reply for a caller who wants it. */
	static void fill(@Nullable CallMetadata target, ByteBuffer message, int metadataBytes) {
		if (target != null) {
			target.fill(IncomingMessage.metadataBefore(message, metadataBytes));
		}
	}

	/**
	 * Decodes a reply. What its result holds of the received memory is taken by
	 * {@link #takeParts}, which is called next.
	 * @param message the reply, position to limit
	 * @param metadataBytes of the metadata before it
	 * @param memory where it lies; borrowed
	 * @param received of the current thread
	 * @throws RpcException made for another thread, if it says that the call failed or
	 * cannot be understood
	 */
	static @Nullable Object decode(MethodDescriptor method, int code, ByteBuffer message, int metadataBytes,
			RegisteredBuffer memory, ReceivedMemory received) {
		if (code != RpcStatus.OK.code()) {
			throw failure(method, code, message, metadataBytes);
		}
		return decode(method, method.result(), RpcStatus.INTERNAL, message, memory, received);
	}

	/**
	 * Decodes a good reply, or a message of a stream, likewise.
	 * @param malformed the status of one that cannot be understood
	 */
	static @Nullable Object decode(@Nullable MethodDescriptor method, MessageFormat format, RpcStatus malformed,
			ByteBuffer message, RegisteredBuffer memory, ReceivedMemory received) {
		received.begin(memory);
		boolean complete = false;
		try {
			Object result = format.decode(message, received);
			complete = true;
			return result;
		}
		catch (Throwable ex) {
			RpcStatus status = (ex instanceof ValuesTooLargeException) ? RpcStatus.RESOURCE_EXHAUSTED : malformed;
			String what = (malformed == RpcStatus.INTERNAL) ? "reply" : "message";
			String why = (ex instanceof CodecException) ? String.valueOf(ex.getMessage()) : FailureText.of(ex);
			throw RpcException.madeElsewhere(status, what + " cannot be decoded: " + why, method, ex);
		}
		finally {
			if (!complete) {
				received.release();
			}
		}
	}

	/**
	 * Takes what the result that was just decoded holds of the received memory.
	 * @return its parts, to be handed over or released, or {@code null} if there are none
	 */
	static @Nullable ReceivedMemory takeParts(ReceivedMemory received) {
		if (received.hasParts()) {
			RECEIVED.remove();
			return received;
		}
		received.release();
		return null;
	}

	/** What a reply says that is not OK, for another thread to throw. */
	static RpcException failure(MethodDescriptor method, int code, ByteBuffer message, int metadataBytes) {
		CallMetadata metadata = (metadataBytes > 0)
				? CallMetadata.decodeAll(IncomingMessage.metadataBefore(message, metadataBytes)) : CallMetadata.NONE;
		String detail = StandardCharsets.UTF_8.decode(message).toString();
		RpcException failure = RpcException.madeElsewhere(RpcStatus.ofCode(code), detail, method,
				method.exceptions().read(detail, metadata), method.details().read(metadata));
		return (metadata.get(REFUSED_KEY) != null) ? failure.beforeExecution() : failure;
	}

	/** Waits for the result of a call, in the calling thread. */
	static @Nullable Object await(MethodDescriptor method, CompletableFuture<? extends @Nullable Object> future) {
		try {
			return future.get();
		}
		catch (InterruptedException ex) {
			future.cancel(false);
			Thread.currentThread().interrupt();
			throw new RpcException(RpcStatus.CANCELLED, "the calling thread was interrupted", method.service(),
					method.name(), ex);
		}
		catch (ExecutionException ex) {
			throw failureOf(method, ex.getCause());
		}
	}

	/** A declared exception of the method stands for the one that is its cause. */
	private static RpcException failureOf(MethodDescriptor method, @Nullable Throwable thrown) {
		if (thrown instanceof RpcException known) {
			return known;
		}
		return (thrown != null && thrown.getCause() instanceof RpcException known) ? known
				: new RpcException(RpcStatus.UNKNOWN, String.valueOf(thrown), method.service(), method.name(), thrown);
	}

	/** Why there is no reply, for another thread to throw. */
	static RpcException failure(@Nullable MethodDescriptor method, CallFailure why, String detail) {
		RpcStatus status = switch (why) {
			case CONNECTION_LOST, NOT_SENT -> RpcStatus.UNAVAILABLE;
			case DEADLINE_EXCEEDED -> RpcStatus.DEADLINE_EXCEEDED;
			case CANCELLED -> RpcStatus.CANCELLED;
			case RESOURCE_EXHAUSTED, MESSAGE_TOO_LARGE -> RpcStatus.RESOURCE_EXHAUSTED;
			case MALFORMED_REPLY -> RpcStatus.INTERNAL;
		};
		RpcException failure = RpcException.madeElsewhere(status, detail, method, null);
		return (why == CallFailure.NOT_SENT) ? failure.beforeExecution() : failure;
	}

	/** Writes the message of a failed reply: its text, shortened to what is sensible. */
	static void encodeDetail(String detail, MessageSegments out) {
		out.clear();
		byte[] utf8 = detail.substring(0, Math.min(detail.length(), MAX_DETAIL_BYTES + 1))
			.getBytes(StandardCharsets.UTF_8);
		int bytes = Math.min(utf8.length, MAX_DETAIL_BYTES);
		while (bytes < utf8.length && bytes > 0 && (utf8[bytes] & 0xC0) == 0x80) {
			bytes--;
		}
		ByteBuffer memory = out.claimMemory(MAX_DETAIL_BYTES);
		memory.put(0, utf8, 0, bytes);
		out.add(memory, 0, bytes);
	}

}
