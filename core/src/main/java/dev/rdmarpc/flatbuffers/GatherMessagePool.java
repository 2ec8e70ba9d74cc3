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

package dev.rdmarpc.flatbuffers;

import org.jctools.queues.varhandle.MpscVarHandleArrayQueue;

/**
 * The message objects of one builder. Taken by the builder's thread, given back by any.
 */
final class GatherMessagePool {

	private static final int CAPACITY = 256;

	private final MpscVarHandleArrayQueue<GatherMessage> idle = new MpscVarHandleArrayQueue<>(CAPACITY);

	private final boolean reuse;

	/**
	 * Creates a pool.
	 * @param reuse whether objects are used again, which hides uses after release
	 */
	GatherMessagePool(boolean reuse) {
		this.reuse = reuse;
	}

	/** Takes an object without content. */
	GatherMessage take() {
		GatherMessage message = this.idle.relaxedPoll();
		return (message != null) ? message : new GatherMessage(this);
	}

	/** Takes back an object without content. */
	void give(GatherMessage message) {
		if (this.reuse) {
			this.idle.relaxedOffer(message);
		}
	}

}
