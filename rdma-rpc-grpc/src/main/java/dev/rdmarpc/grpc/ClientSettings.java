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

package dev.rdmarpc.grpc;

import java.util.concurrent.ThreadLocalRandom;

import dev.rdmarpc.transport.ChannelLoop;
import dev.rdmarpc.transport.ChannelOptions;
import dev.rdmarpc.transport.Rail;
import dev.rdmarpc.transport.RailOptions;
import dev.rdmarpc.transport.RdmaTransport;

/**
 * The settings of a client's connections.
 *
 * @param channel of each connection
 * @param rails which of the transport's each connection may use
 * @param loops how many of the loops that clients share its connections are spread over
 * @param maxMessageBytes largest message accepted unless a call says otherwise
 * @param maxMetadataBytes most headers, or trailers, accepted
 */
record ClientSettings(ChannelOptions channel, RailOptions rails, int loops, int maxMessageBytes, int maxMetadataBytes) {

	/** These for a rail that is tried while there is another one. */
	ClientSettings forAttempt() {
		return new ClientSettings(this.channel.withHandshakeWithin(this.rails.attemptTimeout()), this.rails, this.loops,
				this.maxMessageBytes, this.maxMetadataBytes);
	}

	/** The loop for a new connection on a rail. */
	ChannelLoop loop(RdmaTransport transport, Rail rail) {
		int number = (this.loops > 1) ? ThreadLocalRandom.current().nextInt(this.loops) : 0;
		return transport.sharedLoops(rail, this.channel.frameBytes(), this.loops).get(number);
	}

}
