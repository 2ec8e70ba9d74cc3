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

package dev.rdmarpc.rpc;

import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

import dev.rdmarpc.transport.ChannelLoop;
import dev.rdmarpc.transport.RdmaTransport;

/**
 * The loops that a client's queue pairs are spread over, and what is known on each of
 * them of the client's continuations. Thread-safe.
 */
final class ClientLoops {

	private final RdmaTransport transport;

	private final List<ChannelLoop> loops;

	private final List<Continuations> continuations;

	private final AtomicInteger next = new AtomicInteger();

	ClientLoops(RdmaTransport transport, RpcClientOptions options) {
		this.transport = transport;
		this.loops = transport.sharedLoops(options.channel().frameBytes(), options.queuePairs().loops());
		this.continuations = this.loops.stream().map((loop) -> new Continuations(transport)).toList();
	}

	/** The loop of another queue pair. */
	ChannelLoop next() {
		return this.loops.get(Math.floorMod(this.next.getAndIncrement(), this.loops.size()));
	}

	/** The loop for what belongs to none of the queue pairs. */
	ChannelLoop any() {
		return this.loops.get(0);
	}

	/** What is known on one of the loops, and only there. */
	Continuations continuations(ChannelLoop loop) {
		return this.continuations.get(Math.max(0, this.loops.indexOf(loop)));
	}

	/** Runs users' code on none of the loops. */
	void runElsewhere(Runnable code) {
		this.transport.runCallback(code);
	}

}
