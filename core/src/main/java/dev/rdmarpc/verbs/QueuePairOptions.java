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
 * The settings of a queue pair.
 *
 * @param completionQueue where sends and receives complete
 * @param sharedReceiveQueue the source of receives, or {@code null} for its own receives
 * @param sendQueueDepth work requests outstanding in the send queue
 * @param receiveQueueDepth receives outstanding; ignored with a shared receive queue
 * @param maxSendSegments scatter/gather elements of a Send, Read or Write
 * @param maxReceiveSegments scatter/gather elements of a receive
 * @param listener notified when the connection ends
 */
public record QueuePairOptions(CompletionQueue completionQueue, @Nullable SharedReceiveQueue sharedReceiveQueue,
		int sendQueueDepth, int receiveQueueDepth, int maxSendSegments, int maxReceiveSegments,
		QueuePairListener listener) {

}
