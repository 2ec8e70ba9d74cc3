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

/**
 * What a device can do. Limits are inclusive maxima.
 *
 * @param maxQueuePairs queue pairs open at once
 * @param maxCompletionQueueEntries capacity of one completion queue
 * @param maxSendQueueDepth outstanding work requests of a send queue
 * @param maxReceiveQueueDepth outstanding receives of a queue pair or of a shared receive
 * queue
 * @param maxSendSegments scatter/gather elements of a Send, Write or Read
 * @param maxReceiveSegments scatter/gather elements of a receive
 * @param maxReadDepth RDMA Reads outstanding in one direction of a queue pair
 * @param maxMessageBytes payload of one work request
 * @param sharedReceiveQueue whether shared receive queues are native to the device
 * @param sendWithInvalidate whether {@link WorkOpcode#SEND_WITH_INVALIDATE} is supported
 * @param boundRegions whether memory that is lent to one peer is open to that peer only
 * @param automaticProgress whether queue pairs make progress without polling, see the
 * package description
 */
public record DeviceLimits(int maxQueuePairs, int maxCompletionQueueEntries, int maxSendQueueDepth,
		int maxReceiveQueueDepth, int maxSendSegments, int maxReceiveSegments, int maxReadDepth, long maxMessageBytes,
		boolean sharedReceiveQueue, boolean sendWithInvalidate, boolean boundRegions, boolean automaticProgress) {

}
