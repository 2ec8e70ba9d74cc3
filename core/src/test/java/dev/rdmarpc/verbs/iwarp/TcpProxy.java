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
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.LockSupport;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.TestEnvironment;

/**
 * Stands between the TCP connections of a client and a server until it is told to cut
 * them; what it passes on is its {@link Relay}'s business.
 */
public final class TcpProxy implements AutoCloseable {

	private static final int CHUNK_BYTES = 64 * 1024;

	private final ServerSocket server;

	private final InetSocketAddress target;

	private final @Nullable Relay relay;

	private final List<Socket> sockets = new CopyOnWriteArrayList<>();

	private final List<Thread> threads = new CopyOnWriteArrayList<>();

	private volatile int accepted;

	private volatile int mutedBelow;

	/**
	 * A proxy that passes everything on, for a test that then needs a device over TCP.
	 */
	public TcpProxy(InetSocketAddress target) throws IOException {
		this(overTcp(target), null);
	}

	/**
	 * A proxy like a slow network that holds little on the way, for a test that then
	 * needs a device over TCP.
	 * @param bytesPerSecond in each direction
	 */
	public TcpProxy(InetSocketAddress target, int bytesPerSecond) throws IOException {
		this(overTcp(target), (link) -> passSlowly(link, bytesPerSecond));
	}

	TcpProxy(InetSocketAddress target, @Nullable Relay relay) throws IOException {
		this.server = new ServerSocket(0, 16, TestEnvironment.address());
		this.target = target;
		this.relay = relay;
		start("proxy-accept", this::acceptAll);
	}

	private static InetSocketAddress overTcp(InetSocketAddress target) {
		TestEnvironment.assumeTcp();
		return target;
	}

	/** Where it listens. */
	public InetSocketAddress address() {
		return (InetSocketAddress) this.server.getLocalSocketAddress();
	}

	private void start(String name, Runnable body) {
		Thread thread = new Thread(body, name);
		thread.setDaemon(true);
		this.threads.add(thread);
		thread.start();
	}

	private void acceptAll() {
		for (int i = 0; !this.server.isClosed(); i++) {
			try {
				Socket near = this.server.accept();
				this.accepted = i + 1;
				this.sockets.add(near);
				Socket far = new Socket(this.target.getAddress(), this.target.getPort());
				this.sockets.add(far);
				near.setTcpNoDelay(true);
				far.setTcpNoDelay(true);
				Link there = new Link(i, true, near, far);
				Link back = new Link(i, false, far, near);
				start("proxy-there", () -> pass(there));
				start("proxy-back", () -> pass(back));
			}
			catch (IOException ex) {
				// The proxy is closed, or the target is not there.
				cut(false);
			}
		}
	}

	private static void passSlowly(Link link, int bytesPerSecond) throws IOException {
		link.from().setReceiveBufferSize(CHUNK_BYTES);
		byte[] buffer = new byte[CHUNK_BYTES];
		InputStream in = link.from().getInputStream();
		long due = System.nanoTime();
		for (int read = in.read(buffer); read >= 0; read = in.read(buffer)) {
			due = Math.max(due, System.nanoTime()) + read * 1_000_000_000L / bytesPerSecond;
			for (long left = due - System.nanoTime(); left > 0; left = due - System.nanoTime()) {
				LockSupport.parkNanos(left);
			}
			link.to().getOutputStream().write(buffer, 0, read);
		}
		link.to().shutdownOutput();
	}

	private void passAll(Link link) throws IOException {
		byte[] buffer = new byte[CHUNK_BYTES];
		InputStream in = link.from().getInputStream();
		for (int read = in.read(buffer); read >= 0; read = in.read(buffer)) {
			if (link.connection() >= this.mutedBelow || link.fromClient()) {
				link.to().getOutputStream().write(buffer, 0, read);
			}
		}
		link.to().shutdownOutput();
	}

	private void pass(Link link) {
		try {
			if (this.relay != null) {
				this.relay.pass(link);
			}
			else {
				passAll(link);
			}
		}
		catch (IOException ex) {
			close(link.from(), false);
			close(link.to(), false);
		}
	}

	/**
	 * Drops what the target says from now on over the connections that there are, which
	 * are of no use any more but to be {@link #cut}.
	 */
	public void mute() {
		this.mutedBelow = this.accepted;
	}

	/**
	 * Ends all connections.
	 * @param reset whether the ends are told at once
	 */
	public void cut(boolean reset) {
		List<Socket> open = List.copyOf(this.sockets);
		open.forEach((socket) -> close(socket, reset));
		this.sockets.removeAll(open);
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
