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

import java.util.Set;

/**
 * What is on its way on a channel, for who is to close it and wants to cut nothing off.
 *
 * <p>
 * Confined to the loop's driver.
 */
public final class Underway {

	private final RpcChannel channel;

	/** Creates the view of a channel. */
	public Underway(RpcChannel channel) {
		this.channel = channel;
	}

	/**
	 * The ids of requests that have begun to arrive, in a set of the caller's own. Each
	 * is one that the handler will be told of, unless the channel ends first.
	 */
	public Set<Integer> requests() {
		return this.channel.receiver().arrivingRequests();
	}

	/**
	 * Whether there are replies, requests or messages of streams that the device has not
	 * sent, or that the peer has not read. Frames without any do not count.
	 */
	public boolean isSending() {
		return !this.channel.sender().exposures().isEmpty() || this.channel.sender().outbound().hasData();
	}

}
