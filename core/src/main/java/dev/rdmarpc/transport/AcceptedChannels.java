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
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;

import org.jspecify.annotations.Nullable;

/**
 * The channels that a listener has accepted and that are not closed. There are only so
 * many. When there is no room for another one, a newcomer makes it: a peer that has said
 * nothing since the handshake, if it got that far. It is the oldest newcomer of the
 * address that has most of them. So connections that do nothing keep nobody out, and
 * those of one address nobody of another. Where it is crowded newcomers are asked at once
 * whether they are there, so that honest ones soon are none any more.
 *
 * <p>
 * Thread-safe, by a lock that is held for a walk along the channels at most.
 */
final class AcceptedChannels {

	static final String EVICTED = "it had said nothing since it connected, and others need the room";

	private final int limit;

	private final ReentrantLock lock = new ReentrantLock();

	/** Each with what its address uses; guarded by the lock. */
	private final Map<RpcChannel, PeerShare> channels = new LinkedHashMap<>();

	/** Of the channels whose peers are known; guarded by the lock. */
	private final Map<RpcChannel, PeerShare> shares = new HashMap<>();

	private final PeerShares principals;

	private final PeerShares addresses;

	private final SuspectPeers suspects = new SuspectPeers();

	AcceptedChannels(int limit, PeerLimits limits) {
		this.principals = new PeerShares(limits.principal(), limits.maxReplyBytes());
		this.addresses = new PeerShares(
				new PrincipalLimits(limits.maxConnections(), Integer.MAX_VALUE, limits.principal().maxRequestBytes()),
				limits.maxReplyBytes());
		this.limit = limit;
	}

	/** How many there may be. */
	int limit() {
		return this.limit;
	}

	/** What the principals of the channels use. */
	PeerShares principals() {
		return this.principals;
	}

	/** Whose channels were turned away or given up. */
	SuspectPeers suspects() {
		return this.suspects;
	}

	/**
	 * Counts a channel as one of a principal, until it leaves.
	 * @return {@code null} if the principal has too many of them
	 */
	@Nullable PeerShare tryIdentify(RpcChannel channel, String principal) {
		PeerShare share = this.principals.tryConnect(principal);
		if (share != null) {
			this.lock.lock();
			try {
				channel.sender().countFor(share);
				this.shares.put(channel, share);
			}
			catch (Throwable ex) {
				this.shares.remove(channel);
				this.principals.disconnected(share);
				throw ex;
			}
			finally {
				this.lock.unlock();
			}
		}
		return share;
	}

	/**
	 * Closes the channel that was connected first and whose peer has said nothing since
	 * the handshake, other than one. The driver.
	 * @param channels of its loop
	 * @return whether there was one
	 */
	static boolean evictNewcomer(List<RpcChannel> channels, RpcChannel other) {
		for (int i = 0; i < channels.size(); i++) {
			RpcChannel channel = channels.get(i);
			if (channel != other && channel.isNewcomer()) {
				channel.giveUp(EVICTED);
				return true;
			}
		}
		return false;
	}

	/** Whether more than half of the room is taken. */
	boolean isCrowded() {
		this.lock.lock();
		try {
			return this.channels.size() > this.limit / 2;
		}
		finally {
			this.lock.unlock();
		}
	}

	/**
	 * Adds a channel.
	 * @return which limit keeps it out, or {@code null} if there was room for it, or has
	 * been made
	 */
	ChannelListener.@Nullable Limit tryEnter(RpcChannel channel, InetAddress source) {
		RpcChannel victim = null;
		this.lock.lock();
		try {
			PeerShare share = this.addresses.tryConnect(source.getHostAddress());
			if (share == null) {
				return ChannelListener.Limit.CONNECTIONS_OF_ADDRESS;
			}
			boolean entered = false;
			try {
				if (this.channels.size() >= this.limit) {
					victim = victim();
					if (victim == null) {
						return ChannelListener.Limit.CONNECTIONS;
					}
					remove(victim);
				}
				channel.sender().countFor(share);
				this.channels.put(channel, share);
				entered = true;
				return null;
			}
			finally {
				if (!entered) {
					this.channels.remove(channel);
					this.addresses.disconnected(share);
				}
			}
		}
		finally {
			this.lock.unlock();
			if (victim != null) {
				evict(victim);
			}
		}
	}

	private void evict(RpcChannel victim) {
		try {
			this.suspects.givenUp(victim.remoteAddress(), EVICTED);
		}
		finally {
			victim.close(EVICTED);
		}
	}

	private @Nullable RpcChannel victim() {
		Map<PeerShare, Integer> newcomers = new HashMap<>();
		this.channels.forEach((channel, source) -> {
			if (channel.isNewcomer()) {
				newcomers.merge(source, 1, Integer::sum);
			}
		});
		RpcChannel victim = null;
		int most = 0;
		for (Map.Entry<RpcChannel, PeerShare> entry : this.channels.entrySet()) {
			int count = newcomers.getOrDefault(entry.getValue(), 0);
			if (count > most && entry.getKey().isNewcomer()) {
				most = count;
				victim = entry.getKey();
			}
		}
		return victim;
	}

	/** Forgets a channel that has closed, or was never begun. */
	void leave(RpcChannel channel) {
		this.lock.lock();
		try {
			remove(channel);
		}
		finally {
			this.lock.unlock();
		}
	}

	private void remove(RpcChannel channel) {
		PeerShare share = this.shares.remove(channel);
		if (share != null) {
			this.principals.disconnected(share);
		}
		PeerShare source = this.channels.remove(channel);
		if (source != null) {
			this.addresses.disconnected(source);
		}
	}

}
