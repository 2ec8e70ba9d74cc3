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

import org.jctools.queues.varhandle.MpmcVarHandleArrayQueue;
import org.jspecify.annotations.Nullable;

import dev.rdmarpc.codec.MessageSegments;
import dev.rdmarpc.memory.VirtualThreads;

/** Lists of segments to encode requests into, which are used again. */
final class SegmentsPool {

	private static final int MAX_SHARED_SEGMENTS = 64;

	private static final ThreadLocal<@Nullable MessageSegments> SEGMENTS = new ThreadLocal<>();

	/** Those of virtual threads, each of which would keep its own for one call. */
	private static final MpmcVarHandleArrayQueue<MessageSegments> SHARED_SEGMENTS = new MpmcVarHandleArrayQueue<>(
			MAX_SHARED_SEGMENTS);

	private SegmentsPool() {
	}

	/** An empty list, owned by the caller until it gives it back. */
	static MessageSegments claim() {
		MessageSegments segments = SEGMENTS.get();
		if (segments != null) {
			SEGMENTS.set(null);
			return segments;
		}
		segments = SHARED_SEGMENTS.poll();
		return (segments != null) ? segments : new MessageSegments();
	}

	/** Takes a list back, and releases what is in it. */
	static void giveBack(MessageSegments segments) {
		segments.clear();
		if (VirtualThreads.isVirtual(Thread.currentThread())) {
			SHARED_SEGMENTS.offer(segments);
		}
		else {
			SEGMENTS.set(segments);
		}
	}

}
