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

import java.io.EOFException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

import org.junit.jupiter.api.Assumptions;

import dev.rdmarpc.verbs.iwarp.wire.DdpControl;
import dev.rdmarpc.verbs.iwarp.wire.DdpUntaggedFlyweight;
import dev.rdmarpc.verbs.iwarp.wire.Fpdu;
import dev.rdmarpc.verbs.iwarp.wire.MpaFrameFlyweight;
import dev.rdmarpc.verbs.iwarp.wire.TerminateError;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A plain socket to an {@code rping -s -P -S 4096} over the software iWARP of a Linux
 * kernel, which is where {@code rdma.test.siw} says.
 */
final class KernelPeer implements AutoCloseable {

	/** What rping takes for an advertisement. */
	static final int ADVERTISEMENT_BYTES = 16;

	/** Memory of rping, as started. */
	static final int REGION_BYTES = 4096;

	/**
	 * An rping that is busy with the end of its last connection may not serve the next,
	 * and one that has seen many fail serves nobody until the laboratory starts another.
	 */
	static final int ATTEMPTS = 10;

	private static final long RESTART_NANOS = TimeUnit.SECONDS.toNanos(60);

	private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(200);

	static final int PATIENCE_MILLIS = 3000;

	/** An end without a Terminate. */
	static final String CLOSED = "closed";

	/** What is advertised by {@link #connect}. */
	static final int READ_BYTES = 64;

	private static final int STAG = 0x1200;

	private static final long ADDRESS = 0x1000;

	private final RawPeer peer;

	private ByteBuffer request = ByteBuffer.allocate(0);

	private KernelPeer() throws IOException {
		this.peer = new RawPeer(address());
	}

	/** Where it is; the test is left out where it is nowhere. */
	static InetSocketAddress address() {
		String address = System.getProperty("rdma.test.siw", "");
		Assumptions.assumeTrue(!address.isEmpty(), "no kernel with software iWARP (rdma.test.siw=HOST:PORT)");
		int colon = address.lastIndexOf(':');
		try {
			return new InetSocketAddress(InetAddress.getByName(address.substring(0, colon)),
					Integer.parseInt(address.substring(colon + 1)));
		}
		catch (IOException ex) {
			throw new IllegalArgumentException("rdma.test.siw=" + address, ex);
		}
	}

	/** Has nothing to do with MPA yet. */
	static KernelPeer open() throws IOException {
		return new KernelPeer();
	}

	/** Connects and advertises memory; the kernel has asked to read it. */
	static KernelPeer connect(boolean crcEnabled) throws IOException {
		long begin = System.nanoTime();
		while (true) {
			KernelPeer kernel = new KernelPeer();
			try {
				kernel.start(crcEnabled);
				return kernel;
			}
			catch (SocketTimeoutException | SocketException | EOFException ex) {
				kernel.close();
				pauseOrThrow(begin, ex);
			}
		}
	}

	/** Returns when it is worth trying again to be served. */
	static <X extends Exception> void pauseOrThrow(long begin, X failure) throws X {
		if (System.nanoTime() - begin > RESTART_NANOS) {
			throw failure;
		}
		LockSupport.parkNanos(PAUSE_NANOS);
	}

	private void start(boolean crcEnabled) throws IOException {
		this.peer.socket().setSoTimeout(PATIENCE_MILLIS);
		int flags = crcEnabled ? MpaFrameFlyweight.FLAG_CRC : 0;
		this.peer.write(MpaFrameFlyweight.encodeEnhanced(true, flags, 16, 16, new byte[0]));
		this.peer.readMpaFrame();
		this.peer.crcEnabled(crcEnabled);
		this.peer.segment(Fpdu.send(1, advertisement(ADDRESS, STAG)));
		this.request = this.peer.readSegment();
		this.peer.socket().setSoTimeout((int) Endpoint.DEADLINE.toMillis());
	}

	static byte[] advertisement(long address, int key) {
		return ByteBuffer.allocate(ADVERTISEMENT_BYTES).putLong(address).putInt(key).putInt(READ_BYTES).array();
	}

	/** Serves the Read; now the kernel waits for Send number 2. */
	KernelPeer serveRead() throws IOException {
		this.peer.segment(response(0, 0, READ_BYTES));
		assertThat(DdpControl.opcode(this.peer.readSegment().getShort(0))).isEqualTo(DdpControl.OPCODE_SEND);
		return this;
	}

	/** A response to the Read, as far from the right one as is said. */
	byte[] response(int stagDistance, long offsetDistance, int bytes) {
		return Fpdu.tagged(true, DdpControl.OPCODE_READ_RESPONSE, stag() + stagDistance, offset() + offsetDistance,
				new byte[bytes]);
	}

	/** The name of rping's memory. */
	int stag() {
		return this.request.getInt(DdpUntaggedFlyweight.HEADER_BYTES);
	}

	/** Where rping's memory begins. */
	long offset() {
		return this.request.getLong(DdpUntaggedFlyweight.HEADER_BYTES + Integer.BYTES);
	}

	RawPeer peer() {
		return this.peer;
	}

	/**
	 * How the kernel ends connections of a kind. One that should have ended with a
	 * Terminate and was only closed, or never served, is tried again: rping hears of the
	 * error as well, and may close the connection before the kernel has sent the
	 * Terminate.
	 */
	static String endOf(boolean crcEnabled, String expected, Wrong wrong) throws IOException {
		String end = CLOSED;
		for (int attempt = 0; end.equals(CLOSED) && attempt < (expected.equals(CLOSED) ? 1 : ATTEMPTS); attempt++) {
			try (KernelPeer kernel = connect(crcEnabled)) {
				wrong.send(kernel);
				end = kernel.end();
			}
			catch (SocketTimeoutException | SocketException | EOFException ex) {
				if (expected.equals(CLOSED)) {
					throw ex;
				}
			}
		}
		return end;
	}

	/**
	 * How the kernel ends the connection, in words: with a Terminate, whose layer and
	 * type it swaps, or without.
	 */
	private String end() throws IOException {
		ByteBuffer terminate;
		try {
			terminate = this.peer.readTerminate();
		}
		catch (SocketException | EOFException ex) {
			return CLOSED;
		}
		int typeAndLayer = terminate.get(DdpUntaggedFlyweight.HEADER_BYTES) & 0xFF;
		int code = terminate.get(DdpUntaggedFlyweight.HEADER_BYTES + 1) & 0xFF;
		assertThat(this.peer.isCutOff()).as("closed").isTrue();
		return TerminateError.describe(typeAndLayer & 0xF, typeAndLayer >> 4, code);
	}

	@Override
	public void close() throws IOException {
		this.peer.close();
	}

	/** Sends something for which the kernel must end the connection. */
	@FunctionalInterface
	interface Wrong {

		void send(KernelPeer kernel) throws IOException;

	}

}
