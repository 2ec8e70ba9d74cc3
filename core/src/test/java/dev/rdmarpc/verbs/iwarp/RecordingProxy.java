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
import java.util.Arrays;

/** Passes TCP connections on and records what it passes. */
final class RecordingProxy implements AutoCloseable {

	/** Nothing is damaged. */
	static final long NOWHERE = -1;

	private static final int CHUNK_BYTES = 64 * 1024;

	private final Recording recording = new Recording();

	private final int hangUps;

	private final long flipAt;

	private final TcpProxy proxy;

	RecordingProxy(InetSocketAddress target) throws IOException {
		this(target, 0, NOWHERE);
	}

	/**
	 * Opens a proxy.
	 * @param target where to connect to
	 * @param hangUps so many connections are closed when the client has spoken, as by a
	 * peer that does not understand
	 * @param flipAt where in the client's stream a bit is flipped, or {@link #NOWHERE}
	 */
	RecordingProxy(InetSocketAddress target, int hangUps, long flipAt) throws IOException {
		this.hangUps = hangUps;
		this.flipAt = flipAt;
		this.proxy = new TcpProxy(target, this::pass);
	}

	InetSocketAddress address() {
		return this.proxy.address();
	}

	Recording recording() {
		return this.recording;
	}

	private void pass(TcpProxy.Link link) throws IOException {
		byte[] buffer = new byte[CHUNK_BYTES];
		long passed = 0;
		InputStream in = link.from().getInputStream();
		while (true) {
			int read = in.read(buffer);
			byte[] bytes = Arrays.copyOf(buffer, Math.max(0, read));
			if (link.fromClient() && this.flipAt >= passed && this.flipAt < passed + read) {
				bytes[(int) (this.flipAt - passed)] ^= 0x10;
			}
			this.recording.add(link.connection(), link.fromClient(), bytes);
			if (read < 0) {
				link.to().shutdownOutput();
				return;
			}
			if (link.connection() < this.hangUps) {
				this.recording.add(link.connection(), !link.fromClient(), new byte[0]);
				this.recording.add(link.connection(), link.fromClient(), new byte[0]);
				throw new IOException("hung up");
			}
			link.to().getOutputStream().write(bytes);
			passed += read;
		}
	}

	@Override
	public void close() throws IOException {
		this.proxy.close();
	}

}
