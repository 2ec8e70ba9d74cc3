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

import org.jspecify.annotations.Nullable;

/**
 * Closes a channel for threads that do not drive its loop. Needs no memory, so that a
 * channel is closed in the end even where there was none.
 *
 * <p>
 * Thread-safe. While one closing is on its way, further ones change nothing.
 */
final class ChannelClosing extends LinkableTask {

	private final RpcChannel channel;

	private @Nullable String reason;

	ChannelClosing(RpcChannel channel) {
		this.channel = channel;
	}

	void ask(String why) {
		synchronized (this) {
			if (this.reason != null) {
				return;
			}
			this.reason = why;
		}
		this.channel.loop().executeSurely(this);
	}

	@Override
	public void run() {
		String why;
		synchronized (this) {
			why = this.reason;
			this.reason = null;
		}
		if (why != null) {
			this.channel.shut(why);
		}
	}

}
