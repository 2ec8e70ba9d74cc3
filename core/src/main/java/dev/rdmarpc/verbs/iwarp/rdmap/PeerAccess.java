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

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.verbs.ProtectionDomain;
import dev.rdmarpc.verbs.QueuePair;
import dev.rdmarpc.verbs.support.RegisteredMemory;

/**
 * What the peer of a queue pair may name: regions of the queue pair's domain, but those
 * lent to other peers.
 *
 * @param stags where regions are found
 * @param domain the queue pair's domain
 * @param queuePair to whose peer regions may be lent
 */
public record PeerAccess(StagTable stags, ProtectionDomain domain, QueuePair queuePair) {

	/** The region under an STag, or {@code null} if none is registered. */
	@Nullable RegisteredMemory find(int stag) {
		RegisteredMemory region = this.stags.lookup(stag);
		return (region != null && region.isValid()) ? region : null;
	}

	/** Whether the peer may name a region, in requests that the region permits. */
	boolean includes(RegisteredMemory region) {
		return region.isOpenTo(this.domain, this.queuePair);
	}

}
