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
import java.net.InetSocketAddress;
import java.util.Random;
import java.util.concurrent.locks.LockSupport;

/**
 * Passes one TCP connection on and, as a seed decides, flips bits, cuts it, splits what
 * it passes and holds it back.
 */
final class FaultyProxy implements AutoCloseable {

	private final Faults faults;

	private final TcpProxy proxy;

	FaultyProxy(InetSocketAddress target, Faults faults) throws IOException {
		this.faults = faults;
		this.proxy = new TcpProxy(target, this::pass);
	}

	InetSocketAddress address() {
		return this.proxy.address();
	}

	private void pass(TcpProxy.Link link) throws IOException {
		Random random = new Random(this.faults.seed() * 31 + 2L * link.connection() + (link.fromClient() ? 0 : 1));
		byte[] buffer = new byte[64 * 1024];
		long flipAt = this.faults.flips() ? random.nextInt(this.faults.withinBytes()) : Long.MAX_VALUE;
		long cutAt = this.faults.cuts() ? random.nextInt(this.faults.withinBytes()) : Long.MAX_VALUE;
		long passed = 0;
		InputStream in = link.from().getInputStream();
		OutputStream out = link.to().getOutputStream();
		while (true) {
			int most = random.nextBoolean() ? buffer.length : 1 + random.nextInt(200);
			int read = in.read(buffer, 0, most);
			if (read < 0) {
				link.to().shutdownOutput();
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
				this.proxy.cut(random.nextBoolean());
				return;
			}
			out.write(buffer, 0, read);
			passed += read;
		}
	}

	@Override
	public void close() throws IOException {
		this.proxy.close();
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
