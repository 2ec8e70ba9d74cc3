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

package dev.rdmarpc.transport;

import java.net.InetAddress;
import java.time.Instant;

/**
 * An address some of whose connections were turned away or given up because of what it
 * has done: it has reached a limit, has broken the protocol, or did not do in time what
 * others waited for. It may be hostile, or not well.
 *
 * @param address whose it is; several peers may share it
 * @param rejected its connections that were rejected because of a limit
 * @param givenUp its connections that were given up, those that never became one included
 * @param lastReason why the last one was, for people
 * @param lastTime when that was
 */
public record SuspectPeer(InetAddress address, long rejected, long givenUp, String lastReason, Instant lastTime) {

	/** How many connections were turned away or given up. */
	public long total() {
		return this.rejected + this.givenUp;
	}

}
