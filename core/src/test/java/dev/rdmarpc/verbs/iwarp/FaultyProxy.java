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
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.LockSupport;

/**
 * Passes one TCP connection on and, as a seed decides, flips bits, cuts it, splits what
 * it passes and holds it back.
 */
final class FaultyProxy implements AutoCloseable {

	private final ServerSocket server;

	private final InetSocketAddress target;

	private final Faults faults;

	private final List<Socket> sockets = new CopyOnWriteArrayList<>();

	private final List<Thread> threads = new CopyOnWriteArrayList<>();

	FaultyProxy(InetSocketAddress target, Faults faults) throws IOException {
		this.server = new ServerSocket(0, 16, InetAddress.getLoopbackAddress());
		this.target = target;
		this.faults = faults;
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
				Random there = new Random(this.faults.seed() * 31 + 2L * i);
				Random back = new Random(this.faults.seed() * 31 + 2L * i + 1);
				start("proxy-there", () -> pass(near, far, there));
				start("proxy-back", () -> pass(far, near, back));
			}
		}
		catch (IOException ex) {
			// Closed.
		}
	}

	private void pass(Socket from, Socket to, Random random) {
		byte[] buffer = new byte[64 * 1024];
		long flipAt = this.faults.flips() ? random.nextInt(this.faults.withinBytes()) : Long.MAX_VALUE;
		long cutAt = this.faults.cuts() ? random.nextInt(this.faults.withinBytes()) : Long.MAX_VALUE;
		long passed = 0;
		try {
			InputStream in = from.getInputStream();
			OutputStream out = to.getOutputStream();
			while (true) {
				int most = random.nextBoolean() ? buffer.length : 1 + random.nextInt(200);
				int read = in.read(buffer, 0, most);
				if (read < 0) {
					to.shutdownOutput();
					return;
				}
				if (random.nextInt(16) == 0) {
					LockSupport.parkNanos(random.nextInt(2_000_000));
				}
				if (flipAt >= passed && flipAt < passed + read) {
					buffer[(int) (flipAt - passed)] ^= (byte) (1 << random.nextInt(8));
				}
				if (cutAt < passed + read) {
					out.write(buffer, 0, (int) Math.max(0, cutAt - passed));
					cut(random.nextBoolean());
					return;
				}
				out.write(buffer, 0, read);
				passed += read;
			}
		}
		catch (IOException ex) {
			cut(false);
		}
	}

	private void cut(boolean reset) {
		for (Socket socket : this.sockets) {
			try {
				socket.setSoLinger(reset, 0);
				socket.close();
			}
			catch (IOException ex) {
				// Closed already.
			}
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
	 * What goes wrong.
	 *
	 * @param seed decides where
	 * @param flips whether a bit flips in each direction
	 * @param cuts whether the connection is cut
	 * @param withinBytes how early in the stream
	 */
	record Faults(long seed, boolean flips, boolean cuts, int withinBytes) {

	}

}
