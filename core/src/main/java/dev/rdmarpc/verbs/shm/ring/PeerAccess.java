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

package dev.rdmarpc.verbs.shm.ring;

import dev.rdmarpc.verbs.ProtectionDomain;
import dev.rdmarpc.verbs.QueuePair;
import dev.rdmarpc.verbs.WorkStatus;
import dev.rdmarpc.verbs.support.RegisteredMemory;

/**
 * What the peer of a queue pair may touch: regions by key, checked on each use.
 *
 * @param regions the regions of the device
 * @param domain whose regions alone are open
 * @param queuePair to whose peer regions may have been lent
 */
public record PeerAccess(RegionTable regions, ProtectionDomain domain, QueuePair queuePair) {

	boolean permitsRead(int key, long address, long length) {
		RegisteredMemory region = this.regions.lookup(key);
		return region != null && permits(region, address, length, false);
	}

	RegisteredMemory check(int key, long address, long length, boolean write, int sequence) throws LinkFailure {
		RegisteredMemory region = this.regions.lookup(key);
		if (region == null || !permits(region, address, length, write)) {
			throw LinkFailure.ofRequest(WorkStatus.REMOTE_ACCESS_ERROR, sequence, (write ? "Write" : "Read") + " of "
					+ length + " bytes under key " + RegisteredMemory.name(key) + " is not permitted");
		}
		return region;
	}

	private boolean permits(RegisteredMemory region, long address, long length, boolean write) {
		return region.isValid() && region.isOpenTo(this.domain, this.queuePair)
				&& (write ? region.remoteWritable() : region.remoteReadable()) && length >= 0
				&& region.contains(address, length);
	}

	void invalidate(int key, int sequence) throws LinkFailure {
		RegisteredMemory region = this.regions.lookup(key);
		if (region == null || !region.isLentTo(this.queuePair)) {
			throw LinkFailure.ofRequest(WorkStatus.REMOTE_ACCESS_ERROR, sequence,
					"Send with Invalidate of key " + RegisteredMemory.name(key) + ", which is not lent to the peer");
		}
		this.regions.invalidate(region);
	}

}
