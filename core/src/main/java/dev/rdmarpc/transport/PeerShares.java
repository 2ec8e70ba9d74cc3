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

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;

import org.jspecify.annotations.Nullable;

/**
 * What the principals of a listener use, by their names, or what its addresses use.
 * Thread-safe.
 */
final class PeerShares {

	private final PrincipalLimits limits;

	private final long maxReplyBytes;

	private final Map<String, PeerShare> shares = new ConcurrentHashMap<>();

	private final LongAdder rejected = new LongAdder();

	PeerShares(PrincipalLimits limits, long maxReplyBytes) {
		this.limits = limits;
		this.maxReplyBytes = maxReplyBytes;
	}

	PrincipalLimits limits() {
		return this.limits;
	}

	long maxReplyBytes() {
		return this.maxReplyBytes;
	}

	/** Counts a connection; returns {@code null} if there are too many. */
	@Nullable PeerShare tryConnect(String name) {
		boolean[] counted = new boolean[1];
		PeerShare share = this.shares.compute(name, (key, known) -> {
			PeerShare own = (known != null) ? known : new PeerShare(key, this.limits, this);
			counted[0] = own.tryConnect();
			return own;
		});
		if (counted[0]) {
			return share;
		}
		this.rejected.increment();
		return null;
	}

	/** A connection has ended. */
	void disconnected(PeerShare share) {
		share.disconnected();
		forgetUnused(share.name());
	}

	void forgetUnused(String name) {
		this.shares.computeIfPresent(name, (key, known) -> known.isUnused() ? null : known);
	}

	/** How many connections were rejected. */
	long rejected() {
		return this.rejected.sum();
	}

	/** How many peers are known. */
	int size() {
		return this.shares.size();
	}

}
