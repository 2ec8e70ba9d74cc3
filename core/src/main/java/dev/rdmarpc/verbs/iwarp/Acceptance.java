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

package dev.rdmarpc.verbs.iwarp;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.concurrent.CompletableFuture;

import dev.rdmarpc.verbs.ConnectOptions;
import dev.rdmarpc.verbs.ConnectionInfo;
import dev.rdmarpc.verbs.iwarp.rdmap.ConnectionParameters;
import dev.rdmarpc.verbs.iwarp.wire.MpaFrame;
import dev.rdmarpc.verbs.iwarp.wire.MpaFrameFlyweight;
import dev.rdmarpc.verbs.iwarp.wire.ReadyToReceive;

/**
 * The answer to a request that is accepted, and what both sides have settled by it.
 *
 * @param lifecycle of the queue pair that gets the connection
 * @param frame the request
 * @param reply the reply frame
 * @param parameters what was settled
 * @param result completed when the reply is written
 */
record Acceptance(ConnectionLifecycle lifecycle, MpaFrame frame, ByteBuffer reply, ConnectionParameters parameters,
		CompletableFuture<ConnectionInfo> result) {

	/**
	 * Settles the parameters: never more Reads than the other side said it would serve.
	 */
	static Acceptance of(ConnectionLifecycle lifecycle, ConnectOptions options, MpaFrame frame,
			CompletableFuture<ConnectionInfo> result, ByteStream bytes, InetSocketAddress remote, IwarpOptions settings)
			throws IOException {
		boolean crc = frame.crc() || SocketTuning.asksForCrc(remote.getAddress(), settings);
		int flags = crc ? MpaFrameFlyweight.FLAG_CRC : 0;
		int readDepth = options.readDepth();
		int responderResources = options.responderResources();
		ReadyToReceive readyToReceive = ReadyToReceive.NONE;
		ByteBuffer reply;
		if (frame.enhanced()) {
			readDepth = limit(readDepth, frame.inboundReads());
			responderResources = limit(responderResources, frame.outboundReads());
			readyToReceive = choose(frame, responderResources);
			reply = MpaFrameFlyweight.encodeEnhanced(false, flags, responderResources | irdFlags(readyToReceive),
					readDepth | ordFlags(readyToReceive), options.privateData());
		}
		else {
			reply = MpaFrameFlyweight.encode(false, flags, frame.revision(), options.privateData());
		}
		ConnectionParameters parameters = new ConnectionParameters(false, crc,
				SocketTuning.maxUlpduBytes(bytes, settings), readDepth, responderResources, readyToReceive);
		return new Acceptance(lifecycle, frame, reply, parameters, result);
	}

	private static int limit(int own, int peers) {
		return (peers == MpaFrameFlyweight.DEPTH_NOT_NEGOTIATED) ? own : Math.min(own, peers);
	}

	/**
	 * A Write is the cheapest for both sides, a Send only if there is nothing else. A
	 * Read needs one that the peer may have outstanding and this side serves.
	 */
	private static ReadyToReceive choose(MpaFrame frame, int reads) {
		if (!frame.peerToPeer()) {
			return ReadyToReceive.NONE;
		}
		if ((frame.ord() & MpaFrameFlyweight.ORD_RTR_WRITE) != 0) {
			return ReadyToReceive.WRITE;
		}
		if ((frame.ord() & MpaFrameFlyweight.ORD_RTR_READ) != 0 && reads > 0) {
			return ReadyToReceive.READ;
		}
		return ((frame.ird() & MpaFrameFlyweight.IRD_RTR_SEND) != 0) ? ReadyToReceive.SEND : ReadyToReceive.WRITE;
	}

	private static int irdFlags(ReadyToReceive chosen) {
		return switch (chosen) {
			case NONE -> 0;
			case SEND -> MpaFrameFlyweight.IRD_PEER_TO_PEER | MpaFrameFlyweight.IRD_RTR_SEND;
			case WRITE, READ -> MpaFrameFlyweight.IRD_PEER_TO_PEER;
		};
	}

	private static int ordFlags(ReadyToReceive chosen) {
		return switch (chosen) {
			case NONE, SEND -> 0;
			case WRITE -> MpaFrameFlyweight.ORD_RTR_WRITE;
			case READ -> MpaFrameFlyweight.ORD_RTR_READ;
		};
	}

}
