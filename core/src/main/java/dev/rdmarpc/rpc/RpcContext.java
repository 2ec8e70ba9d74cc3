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

import java.net.InetSocketAddress;
import java.security.Principal;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.codec.SegmentOwner;
import dev.rdmarpc.memory.RegisteredBuffer;

/**
 * The call that a handler is serving. Calls that the handler makes inherit the rest of
 * its deadline.
 *
 * <p>
 * Available on the handler's thread. It may be kept and used on other threads.
 */
public interface RpcContext {

	/** The call that the current thread is serving, or {@code null}. */
	static @Nullable RpcContext current() {
		ServedCall current = ServedCall.current();
		return (current != null) ? current.context() : null;
	}

	/** The method being served. */
	MethodDescriptor method();

	/** The caller's address, or {@code null} if its connection is gone. */
	@Nullable InetSocketAddress peer();

	/**
	 * Who the caller is, as the server has decided when it connected, or {@code null} if
	 * nobody was asked.
	 */
	default @Nullable Principal principal() {
		return null;
	}

	/**
	 * When the caller gives up, by {@link System#nanoTime()}; {@link Long#MAX_VALUE}
	 * means never.
	 */
	long deadlineNanos();

	/**
	 * Whether the caller has cancelled the call or lost its connection; the thread is
	 * also interrupted.
	 */
	boolean isCancelled();

	/** What the caller sent with the request; nothing can be added. */
	CallMetadata requestMetadata();

	/**
	 * What travels with the reply, also if the call fails. To be filled before the
	 * handler returns, or completes its future; {@link CallMetadata#put} says whether
	 * there is room.
	 */
	CallMetadata replyMetadata();

	/**
	 * Releases a reference when the call has ended, however it ends, and its reply holds
	 * the references it needs. For a result that was allocated for this call, or that
	 * others may release in the meantime. Callable on any thread; a handler that returned
	 * a future must call it before completing the future. If the call has already been
	 * cancelled, the reference is released at once.
	 * @param buffer takes ownership of one reference
	 */
	void releaseAfterReply(RegisteredBuffer buffer);

	/**
	 * Does the same for a message, or whatever else owns segments.
	 * @param owner takes ownership of one reference
	 */
	void releaseAfterReply(SegmentOwner owner);

}
