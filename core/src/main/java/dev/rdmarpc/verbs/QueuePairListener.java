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

/** Notified of the end of a queue pair's connection. */
@FunctionalInterface
public interface QueuePairListener {

	/** A listener that ignores everything. */
	QueuePairListener NONE = (queuePair, fault) -> {
	};

	/**
	 * The connection has ended, from either side and for any reason; flushed completions
	 * follow or have been reported. Called once, never after {@link QueuePair#close()}
	 * has returned, on a thread that polls the completion queue or on one of the
	 * provider's. It must not block, and may call the verbs only to post, read state or
	 * close.
	 */
	void onDisconnected(QueuePair queuePair, QueuePairFault fault);

}
