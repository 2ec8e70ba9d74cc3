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

import dev.rdmarpc.codec.ReceivedMemory;
import dev.rdmarpc.codec.SegmentOwner;
import dev.rdmarpc.memory.RegisteredBuffer;

/**
 * What a handler sees of its call. Made when it asks, and not used again: a handler whose
 * future was cancelled may still hold it when the call has ended.
 *
 * <p>
 * Implementation notes. What is given to {@code releaseAfterReply} is guarded by this
 * object's lock, because the call may be ended by the loop's driver (a cancellation)
 * while the handler goes on in another thread. What comes after the end goes back at
 * once: no reply of this call will hold it.
 */
final class CallContext implements RpcContext {

	private final MethodDescriptor method;

	private final @Nullable InetSocketAddress peer;

	private final @Nullable Principal principal;

	private final long deadlineNanos;

	private final CallMetadata requestMetadata;

	private final CallMetadata replyMetadata;

	private final ReceivedMemory kept = ReceivedMemory.lent();

	private volatile boolean cancelled;

	private boolean ended;

	CallContext(MethodDescriptor method, @Nullable InetSocketAddress peer, @Nullable Principal principal,
			long deadlineNanos, boolean cancelled, CallMetadata requestMetadata, CallMetadata replyMetadata) {
		this.method = method;
		this.peer = peer;
		this.principal = principal;
		this.deadlineNanos = deadlineNanos;
		this.cancelled = cancelled;
		this.requestMetadata = requestMetadata;
		this.replyMetadata = replyMetadata;
	}

	@Override
	public MethodDescriptor method() {
		return this.method;
	}

	@Override
	public @Nullable InetSocketAddress peer() {
		return this.peer;
	}

	@Override
	public @Nullable Principal principal() {
		return this.principal;
	}

	@Override
	public long deadlineNanos() {
		return this.deadlineNanos;
	}

	@Override
	public boolean isCancelled() {
		return this.cancelled;
	}

	@Override
	public CallMetadata requestMetadata() {
		return this.requestMetadata;
	}

	@Override
	public CallMetadata replyMetadata() {
		return this.replyMetadata;
	}

	@Override
	public void releaseAfterReply(RegisteredBuffer buffer) {
		synchronized (this) {
			if (!this.ended) {
				this.kept.keep(buffer);
				return;
			}
		}
		buffer.release();
	}

	@Override
	public void releaseAfterReply(SegmentOwner owner) {
		synchronized (this) {
			if (!this.ended) {
				this.kept.keep(owner);
				return;
			}
		}
		owner.release();
	}

	/** The caller has lost interest. */
	void cancel() {
		this.cancelled = true;
	}

	/** The call has ended and its reply holds what it needs. */
	synchronized void end() {
		this.ended = true;
		try {
			this.kept.release();
		}
		catch (IllegalStateException ex) {
			HandlerFailures.releasedTooOften(this.method, ex);
		}
	}

}
