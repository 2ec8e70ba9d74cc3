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

package dev.rdmarpc.benchmarks.compare.tls;

import java.io.EOFException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

import javax.net.ssl.SSLContext;

import dev.rdmarpc.benchmarks.compare.BlockingLoop;
import dev.rdmarpc.benchmarks.compare.Exchange;
import dev.rdmarpc.benchmarks.compare.Mode;
import dev.rdmarpc.benchmarks.compare.Peer;
import dev.rdmarpc.benchmarks.compare.PeerClient;
import dev.rdmarpc.benchmarks.compare.PeerServer;
import dev.rdmarpc.benchmarks.compare.Workload;

/**
 * The least that TLS can do in Java: payloads without headers over a blocking socket with
 * an engine of the JDK, one thread for each connection. A connection begins with the
 * sizes of what goes there and of what comes back.
 */
public final class TlsPeer implements Peer {

	@Override
	public String name() {
		return "tls";
	}

	@Override
	public boolean supports(Mode mode) {
		return mode == Mode.SYNC;
	}

	@Override
	public PeerServer startServer() throws Exception {
		ServerSocketChannel listener = ServerSocketChannel.open();
		listener.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
		RunningServer server = new RunningServer(listener, TlsSetup.serverContext(), ConcurrentHashMap.newKeySet());
		start(server::accept);
		return server;
	}

	private static void start(Runnable runnable) {
		Thread thread = new Thread(runnable, "tls-server");
		thread.setDaemon(true);
		thread.start();
	}

	@Override
	public PeerClient connect(InetSocketAddress server, Workload workload) throws Exception {
		SocketChannel channel = SocketChannel.open(server);
		channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
		TlsSocket socket = new TlsSocket(channel, TlsSetup.engine(TlsSetup.clientContext(), true));
		socket.handshake();
		socket.write(ByteBuffer.allocate(8).putInt(workload.payloadBytes()).putInt(workload.replyBytes()).flip());
		ByteBuffer payload = ByteBuffer.allocateDirect(workload.payloadBytes()).put(workload.payload());
		ByteBuffer reply = ByteBuffer.allocateDirect(workload.replyBytes());
		return new BlockingLoop(() -> {
			socket.write(payload.flip());
			socket.readFully(reply.clear());
			if (!workload.isEcho() && reply.getLong(0) != workload.payloadBytes()) {
				throw new IllegalStateException("reply of the wrong size");
			}
		}, socket);
	}

	private record RunningServer(ServerSocketChannel listener, SSLContext context,
			Set<SocketChannel> connections) implements PeerServer {

		@Override
		public int port() {
			return this.listener.socket().getLocalPort();
		}

		void accept() {
			try {
				while (true) {
					SocketChannel channel = this.listener.accept();
					this.connections.add(channel);
					start(() -> serve(channel));
				}
			}
			catch (AsynchronousCloseException ex) {
				// the server has been closed
			}
			catch (IOException ex) {
				throw new IllegalStateException(ex);
			}
		}

		private void serve(SocketChannel channel) {
			try (TlsSocket socket = new TlsSocket(channel, TlsSetup.engine(this.context, false))) {
				channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
				socket.handshake();
				ByteBuffer sizes = ByteBuffer.allocate(8);
				socket.readFully(sizes);
				ByteBuffer payload = ByteBuffer.allocateDirect(sizes.getInt(0));
				boolean echo = sizes.getInt(4) == sizes.getInt(0);
				ByteBuffer reply = echo ? payload : ByteBuffer.allocateDirect(Exchange.REPLY_BYTES);
				while (true) {
					socket.readFully(payload.clear());
					if (!echo) {
						reply.clear().putLong(payload.capacity());
					}
					socket.write(reply.flip());
				}
			}
			catch (EOFException | AsynchronousCloseException ex) {
				// the client has ended, or the server
			}
			catch (IOException ex) {
				throw new IllegalStateException(ex);
			}
			finally {
				this.connections.remove(channel);
			}
		}

		@Override
		public void close() throws IOException {
			this.listener.close();
			for (SocketChannel channel : this.connections) {
				channel.close();
			}
		}

	}

}
