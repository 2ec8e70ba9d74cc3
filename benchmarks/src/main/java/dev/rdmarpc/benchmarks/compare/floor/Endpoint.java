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

package dev.rdmarpc.benchmarks.compare.floor;

import java.io.IOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.StandardProtocolFamily;
import java.net.StandardSocketOptions;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.ThreadLocalRandom;

/**
 * The kind of sockets. Servers are told apart by a number, as a port is: of Unix domain
 * sockets it is part of the file's name.
 */
enum Endpoint {

	/** TCP over the loopback interface. */
	TCP {

		@Override
		Listening listen() throws IOException {
			ServerSocketChannel listener = ServerSocketChannel.open();
			listener.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), BACKLOG);
			return new Listening(listener, listener.socket().getLocalPort());
		}

		@Override
		SocketAddress address(int port) {
			return new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
		}

		@Override
		void prepare(SocketChannel channel) throws IOException {
			channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
			channel.configureBlocking(false);
		}

	},

	/** Unix domain sockets in the directory for temporary files. */
	UNIX {

		@Override
		Listening listen() throws IOException {
			for (int attempt = 0;; attempt++) {
				int port = ThreadLocalRandom.current().nextInt(1024, 65536);
				ServerSocketChannel listener = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
				try {
					listener.bind(address(port), BACKLOG);
					return new Listening(listener, port);
				}
				catch (BindException ex) {
					listener.close();
					if (attempt == ATTEMPTS) {
						throw ex;
					}
				}
			}
		}

		@Override
		SocketAddress address(int port) {
			return UnixDomainSocketAddress.of(file(port));
		}

		@Override
		void prepare(SocketChannel channel) throws IOException {
			channel.configureBlocking(false);
		}

		@Override
		void forget(int port) throws IOException {
			Files.deleteIfExists(file(port));
		}

	};

	private static final int BACKLOG = 64;

	private static final int ATTEMPTS = 16;

	private static Path file(int port) {
		return Path.of(System.getProperty("java.io.tmpdir"),
				"rdma-rpc-floor-" + System.getProperty("user.name") + "-" + port);
	}

	/** Listens under a free number. */
	abstract Listening listen() throws IOException;

	/** Where the server of a number listens. */
	abstract SocketAddress address(int port);

	/** Makes a connected channel ready to be polled. */
	abstract void prepare(SocketChannel channel) throws IOException;

	/** Removes what a closed listener leaves. */
	void forget(int port) throws IOException {
	}

	/**
	 * A listener and its number.
	 *
	 * @param channel blocking
	 * @param port the number
	 */
	record Listening(ServerSocketChannel channel, int port) {

	}

}
