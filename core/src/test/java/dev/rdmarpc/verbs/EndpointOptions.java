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

package dev.rdmarpc.verbs;

import org.jspecify.annotations.Nullable;

/**
 * How a test wants an endpoint.
 *
 * @param sendDepth of the send queue
 * @param receiveDepth of the receive queue
 * @param segments scatter/gather elements of each request
 * @param sharedReceives where receives are taken from, or {@code null}
 * @param collector the completion queue, or {@code null} for one of its own
 * @param listener told besides the fixture
 */
record EndpointOptions(int sendDepth, int receiveDepth, int segments, @Nullable SharedReceives sharedReceives,
		@Nullable CompletionCollector collector, QueuePairListener listener) {

	static final EndpointOptions DEFAULTS = new EndpointOptions(64, 64, 4, null, null, QueuePairListener.NONE);

	EndpointOptions withDepths(int sendDepth, int receiveDepth) {
		return new EndpointOptions(sendDepth, receiveDepth, this.segments, this.sharedReceives, this.collector,
				this.listener);
	}

	EndpointOptions withSegments(int segments) {
		return new EndpointOptions(this.sendDepth, this.receiveDepth, segments, this.sharedReceives, this.collector,
				this.listener);
	}

	EndpointOptions withSharedReceives(SharedReceives sharedReceives) {
		return new EndpointOptions(this.sendDepth, this.receiveDepth, this.segments, sharedReceives, this.collector,
				this.listener);
	}

	EndpointOptions withCollector(CompletionCollector collector) {
		return new EndpointOptions(this.sendDepth, this.receiveDepth, this.segments, this.sharedReceives, collector,
				this.listener);
	}

	EndpointOptions withListener(QueuePairListener listener) {
		return new EndpointOptions(this.sendDepth, this.receiveDepth, this.segments, this.sharedReceives,
				this.collector, listener);
	}

}
