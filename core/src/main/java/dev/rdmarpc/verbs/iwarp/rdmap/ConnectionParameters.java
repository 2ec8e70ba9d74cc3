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

package dev.rdmarpc.verbs.iwarp.rdmap;

import dev.rdmarpc.verbs.iwarp.wire.ReadyToReceive;

/**
 * What the MPA handshake settled.
 *
 * @param initiator whether this side connected
 * @param crcEnabled whether FPDUs carry a CRC
 * @param maxUlpduBytes the longest ULPDU this side sends
 * @param readDepth RDMA Reads this side may have outstanding
 * @param responderResources RDMA Reads of the peer served at once
 * @param readyToReceive the initiator's first frame
 */
public record ConnectionParameters(boolean initiator, boolean crcEnabled, int maxUlpduBytes, int readDepth,
		int responderResources, ReadyToReceive readyToReceive) {

}
