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
import java.net.InetAddress;
import java.util.ArrayDeque;

import dev.rdmarpc.transport.Frames;

/**
 * A hostile peer that obeys credits, which nothing else can make it: so it may say as
 * much as it likes, as fast as the other side listens. Used by one thread.
 */
final class CreditedPeer implements AutoCloseable {

	private static final int WINDOW = 32;

	/** Credits that are left for frames that grant some. */
	private static final int RESERVE = 2;

	private static final int CREDIT = 7;

	/** A frame that gives back what it takes. */
	private static final int RETURN = 12;

	private final HostileSocket socket;

	private final ArrayDeque<byte[]> batch = new ArrayDeque<>();

	private int credits;

	private int owed;

	/** Connects from an address of this host and shakes hands. */
	CreditedPeer(int port, InetAddress from) throws IOException {
		this.socket = new HostileSocket(port, from);
		try {
			this.socket.connected(false).write(this.socket.framed(Frames.hello(1, WINDOW, 4 * WINDOW)));
			byte[] reply = this.socket.read();
			if (reply == null || reply[0] != 2 || RawPeer.view(reply).getShort(38) != 0) {
				throw new IOException("refused");
			}
			this.credits = RawPeer.view(reply).getShort(36) & 0xFFFF;
		}
		catch (IOException | RuntimeException ex) {
			this.socket.close();
			throw ex;
		}
	}

	/** Sends a frame, perhaps with others later. */
	void send(byte[] frame) throws IOException {
		if (this.credits <= RESERVE) {
			flush();
		}
		while (this.credits <= RESERVE) {
			heed();
			if (this.owed > WINDOW / 2 && this.credits > 0) {
				add(Frames.control(CREDIT, 0, 0));
				flush();
			}
		}
		add(frame);
	}

	private void add(byte[] frame) {
		RawPeer.view(frame).putShort(2, (short) this.owed);
		this.owed = 0;
		this.credits--;
		this.batch.add(this.socket.framed(frame));
	}

	/** Sends what was left for later. */
	void flush() throws IOException {
		int bytes = this.batch.stream().mapToInt((frame) -> frame.length).sum();
		byte[] all = new byte[bytes];
		int at = 0;
		for (byte[] frame : this.batch) {
			System.arraycopy(frame, 0, all, at, frame.length);
			at += frame.length;
		}
		this.batch.clear();
		this.socket.write(all);
		while (this.socket.hasMore()) {
			heed();
		}
	}

	private void heed() throws IOException {
		byte[] frame = this.socket.read();
		if (frame == null) {
			return;
		}
		this.credits += RawPeer.view(frame).getShort(2) & 0xFFFF;
		if (frame[0] != RETURN) {
			this.owed++;
		}
	}

	/** The connection below. */
	HostileSocket socket() {
		return this.socket;
	}

	@Override
	public void close() throws IOException {
		this.socket.close();
	}

}
