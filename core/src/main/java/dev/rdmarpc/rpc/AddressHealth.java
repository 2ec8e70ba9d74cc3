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

/**
 * The health of one of the addresses of a client's target.
 *
 * @param address host and port, or the name of the target if only that is known, as
 * before the first connection
 * @param state the best of its connections
 * @param ejected whether it gets no calls for a while, because too many failed in a row
 * @param ejections how often that was so
 * @param queuePairs queue pairs that are connected
 * @param outstandingCalls calls that wait for a reply
 * @param lastFailure why it is not connected, or an empty string
 */
public record AddressHealth(String address, ConnectionState state, boolean ejected, long ejections, int queuePairs,
		int outstandingCalls, String lastFailure) {

}
