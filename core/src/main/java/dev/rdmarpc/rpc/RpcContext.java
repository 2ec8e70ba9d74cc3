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

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.flatbuffers.GatherMessage;
import dev.rdmarpc.memory.RegisteredBuffer;

/**
 * The call that a handler is serving. Calls the handler makes in turn inherit what
 * remains of its deadline.
 *
 * <p>
 * Found in the handler's thread. It may be kept and used in others.
 */
public interface RpcContext {

	/** The call that the current thread is serving, or {@code null}. */
	static @Nullable RpcContext current() {
		return ServerCall.currentContext();
	}

	/** The method being served. */
	MethodDescriptor method();

	/** The caller's address, or {@code null} if its connection has gone. */
	@Nullable InetSocketAddress peer();

	/**
	 * When the caller gives up, by {@link System#nanoTime()}; {@link Long#MAX_VALUE} is
	 * never.
	 */
	long deadlineNanos();

	/**
	 * Whether the caller has lost interest or its connection; the thread is interrupted
	 * too.
	 */
	boolean isCancelled();

	/**
	 * Gives a reference back when the call has ended, however it ends, and its reply
	 * holds the references it needs: for a result that was allocated for this call, or
	 * that others may release meanwhile. Any thread; to be called before the handler's
	 * future is completed by the handler, if it returned one. If the call was cancelled
	 * meanwhile, the reference is given back at once.
	 * @param buffer takes ownership of one reference
	 */
	void releaseAfterReply(RegisteredBuffer buffer);

	/**
	 * Does the same for a message.
	 * @param message takes ownership of one reference
	 */
	void releaseAfterReply(GatherMessage message);

}
