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
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.CompletableFuture;

import dev.rdmarpc.verbs.ConnectOptions;
import dev.rdmarpc.verbs.ConnectionInfo;
import dev.rdmarpc.verbs.ConnectionListener;
import dev.rdmarpc.verbs.ListenOptions;
import dev.rdmarpc.verbs.VerbsDevice;
import dev.rdmarpc.verbs.iwarp.wire.MpaFrame;
import dev.rdmarpc.verbs.iwarp.wire.MpaFrameFlyweight;

/** An endpoint of the provider that has accepted a {@link RawPeer}. */
final class RawSession implements AutoCloseable {

	final VerbsDevice device;

	final Endpoint endpoint;

	final RawPeer peer;

	final MpaFrame reply;

	final ConnectionInfo info;

	RawSession(boolean crcEnabled) throws IOException {
		this(IwarpOptions.DEFAULTS, crcEnabled, ConnectOptions.DEFAULTS);
	}

	RawSession(IwarpOptions options, boolean crcEnabled, ConnectOptions accepting) throws IOException {
		this.device = new IwarpProvider(options).openDevice(null);
		this.endpoint = new Endpoint(this.device);
		CompletableFuture<CompletableFuture<ConnectionInfo>> accepted = new CompletableFuture<>();
		try (ConnectionListener listener = this.device.listen(
				new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), ListenOptions.DEFAULTS,
				(request) -> accepted.complete(request.accept(this.endpoint.queuePair, accepting)))) {
			this.peer = new RawPeer(listener.localAddress());
			int flags = crcEnabled ? MpaFrameFlyweight.FLAG_CRC : 0;
			this.peer.write(MpaFrameFlyweight.encodeEnhanced(true, flags, 16, 16, new byte[0]));
			this.reply = this.peer.readMpaFrame();
			this.info = ConnectedPair.get(ConnectedPair.get(accepted));
			this.peer.crcEnabled(crcEnabled);
		}
	}

	@Override
	public void close() throws IOException {
		this.endpoint.close();
		this.device.close();
		this.peer.close();
	}

}
