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

import java.util.ArrayList;
import java.util.List;

/**
 * The channels of a loop that are closed but whose device may still use their buffers.
 * They are disposed of when it has flushed them, or after a second.
 *
 * <p>
 * Confined to the loop's driver.
 */
final class RetiredChannels {

	private static final long PATIENCE_NANOS = 1_000_000_000;

	private final List<RpcChannel> channels = new ArrayList<>();

	void add(RpcChannel channel) {
		this.channels.add(channel);
	}

	boolean isEmpty() {
		return this.channels.isEmpty();
	}

	/**
	 * Releases the queue pairs that have flushed.
	 * @param atOnce whether not to wait for those that have not
	 */
	void dispose(long nowNanos, boolean atOnce) {
		for (int i = this.channels.size() - 1; i >= 0; i--) {
			RpcChannel channel = this.channels.get(i);
			if (atOnce || channel.isQuiet() || nowNanos - channel.closedNanos() > PATIENCE_NANOS) {
				this.channels.remove(i);
				channel.dispose();
			}
		}
	}

}
