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

import java.net.InetSocketAddress;

import org.jspecify.annotations.Nullable;

/**
 * What people may know of a channel, as any thread has seen it: each value for itself,
 * perhaps of different moments.
 *
 * @param initiator whether it was connected from this side
 * @param queuePair the number of the queue pair on its device, 0 before there is one
 * @param state where the channel is in its life
 * @param localAddress its address on this side, if known
 * @param remoteAddress the peer's, if known
 * @param outstandingCalls calls from here that wait for a reply
 * @param sendCredits Sends that the peer would take at once
 * @param promisedReceives receives promised to the peer
 * @param receivedFrames frames that the peer has sent since the handshake
 * @param cancels how many of them have given up a call
 * @param unfinishedBytes memory held for messages that the peer has begun
 */
public record ChannelSnapshot(boolean initiator, int queuePair, ChannelState state,
		@Nullable InetSocketAddress localAddress, @Nullable InetSocketAddress remoteAddress, int outstandingCalls,
		int sendCredits, int promisedReceives, long receivedFrames, long cancels, long unfinishedBytes) {

	/** Looks at a channel without waiting for it. */
	public static ChannelSnapshot of(RpcChannel channel) {
		ChannelState state = channel.state();
		return new ChannelSnapshot(channel.receiver().isInitiator(), channel.sender().queuePairNumber(), state,
				channel.localAddress(), channel.remoteAddress(), channel.outstandingCalls(),
				channel.credits().ledger().available(), channel.credits().promised(), channel.credits().frames(),
				channel.receiver().cancels(), channel.receiver().heldBytes());
	}

}
