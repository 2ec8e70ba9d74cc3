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

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

import dev.rdmarpc.TestEnvironment;

/** Passes connections on to a server until told to cut them. */
final class KillingProxy implements AutoCloseable {

	private final ServerSocket server;

	private final InetSocketAddress target;

	private final List<Socket> sockets = new CopyOnWriteArrayList<>();

	private final List<Thread> threads = new CopyOnWriteArrayList<>();

	KillingProxy(InetSocketAddress target) throws IOException {
		TestEnvironment.assumeTcp();
		this.server = new ServerSocket(0, 16, TestEnvironment.address());
		this.target = target;
		start(this::acceptAll);
	}

	int port() {
		return this.server.getLocalPort();
	}

	private void start(Runnable body) {
		Thread thread = new Thread(body, "killing-proxy");
		thread.setDaemon(true);
		this.threads.add(thread);
		thread.start();
	}

	private void acceptAll() {
		while (!this.server.isClosed()) {
			try {
				Socket near = this.server.accept();
				this.sockets.add(near);
				Socket far = new Socket(this.target.getAddress(), this.target.getPort());
				this.sockets.add(far);
				near.setTcpNoDelay(true);
				far.setTcpNoDelay(true);
				start(() -> pass(near, far));
				start(() -> pass(far, near));
			}
			catch (IOException ex) {
				kill(false);
			}
		}
	}

	private void pass(Socket from, Socket to) {
		try {
			byte[] buffer = new byte[64 * 1024];
			for (int read = from.getInputStream().read(buffer); read >= 0; read = from.getInputStream().read(buffer)) {
				to.getOutputStream().write(buffer, 0, read);
			}
			to.shutdownOutput();
		}
		catch (IOException ex) {
			abort(from, true);
			abort(to, true);
		}
	}

	/**
	 * Cuts all connections.
	 * @param reset whether the ends are told at once
	 */
	void kill(boolean reset) {
		this.sockets.forEach((socket) -> abort(socket, reset));
		this.sockets.clear();
	}

	private static void abort(Socket socket, boolean reset) {
		try {
			socket.setSoLinger(reset, 0);
			socket.close();
		}
		catch (IOException ex) {
			// closed already
		}
	}

	@Override
	public void close() throws IOException {
		this.server.close();
		kill(true);
		try {
			for (Thread thread : this.threads) {
				thread.join(10_000);
			}
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

}
