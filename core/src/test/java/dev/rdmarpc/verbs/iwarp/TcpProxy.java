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
import java.net.ServerSocket;
import java.net.Socket;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * Stands between the TCP connections of a client and a server; what it passes on is its
 * {@link Relay}'s business.
 */
final class TcpProxy implements AutoCloseable {

	private final ServerSocket server;

	private final InetSocketAddress target;

	private final Relay relay;

	private final List<Socket> sockets = new CopyOnWriteArrayList<>();

	private final List<Thread> threads = new CopyOnWriteArrayList<>();

	TcpProxy(InetSocketAddress target, Relay relay) throws IOException {
		this.server = new ServerSocket(0, 16, InetAddress.getLoopbackAddress());
		this.target = target;
		this.relay = relay;
		start("proxy-accept", this::acceptAll);
	}

	InetSocketAddress address() {
		return (InetSocketAddress) this.server.getLocalSocketAddress();
	}

	private void start(String name, Runnable body) {
		Thread thread = new Thread(body, name);
		thread.setDaemon(true);
		this.threads.add(thread);
		thread.start();
	}

	private void acceptAll() {
		try {
			for (int i = 0; true; i++) {
				Socket near = this.server.accept();
				Socket far = new Socket(this.target.getAddress(), this.target.getPort());
				near.setTcpNoDelay(true);
				far.setTcpNoDelay(true);
				this.sockets.add(near);
				this.sockets.add(far);
				Link there = new Link(i, true, near, far);
				Link back = new Link(i, false, far, near);
				start("proxy-there", () -> pass(there));
				start("proxy-back", () -> pass(back));
			}
		}
		catch (IOException ex) {
			// Closed.
		}
	}

	private void pass(Link link) {
		try {
			this.relay.pass(link);
		}
		catch (IOException ex) {
			close(link.from(), false);
			close(link.to(), false);
		}
	}

	/** Ends all connections. */
	void cut(boolean reset) {
		for (Socket socket : this.sockets) {
			close(socket, reset);
		}
	}

	private static void close(Socket socket, boolean reset) {
		try {
			socket.setSoLinger(reset, 0);
			socket.close();
		}
		catch (IOException ex) {
			// Closed already.
		}
	}

	@Override
	public void close() throws IOException {
		this.server.close();
		cut(false);
		try {
			for (Thread thread : this.threads) {
				thread.join(Endpoint.DEADLINE.toMillis());
			}
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	/**
	 * One direction of a connection.
	 *
	 * @param connection number of the connection, from 0
	 * @param fromClient whether the client sends in this direction
	 * @param from where to read
	 * @param to where to write
	 */
	record Link(int connection, boolean fromClient, Socket from, Socket to) {

	}

	/** Passes one direction on until it ends; called on a thread for each. */
	@FunctionalInterface
	interface Relay {

		void pass(Link link) throws IOException;

	}

}
