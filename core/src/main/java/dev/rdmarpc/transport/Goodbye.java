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

/**
 * The orderly end of a channel: whoever says goodbye takes, or makes, no new calls; those
 * outstanding are finished, then the side that calls closes.
 *
 * <p>
 * Confined to the loop's driver.
 */
final class Goodbye {

	private final RpcChannel channel;

	private final ChannelHandler handler;

	private final boolean initiator;

	private boolean said;

	Goodbye(RpcChannel channel, ChannelHandler handler, boolean initiator) {
		this.channel = channel;
		this.handler = handler;
		this.initiator = initiator;
	}

	/** Says goodbye, once. */
	void say() {
		if (this.channel.isUp()) {
			this.channel.draining();
			if (!this.said) {
				this.said = true;
				this.channel.sendControl(FrameType.GOODBYE, 0);
			}
			closeIfDrained();
		}
		else if (this.channel.state() != ChannelState.CLOSED) {
			this.channel.shut("closed before it was open");
		}
	}

	/** The peer takes no new calls. */
	void heard() {
		if (this.channel.isOpen()) {
			this.channel.draining();
			this.handler.onGoodbye(this.channel);
		}
		if (this.initiator) {
			closeIfDrained();
		}
	}

	/** The side that calls closes, once it has all its replies. */
	void closeIfDrained() {
		if (this.initiator && this.channel.state() == ChannelState.DRAINING && this.channel.isIdle()) {
			this.channel.shut("closed after goodbye");
		}
	}

}
