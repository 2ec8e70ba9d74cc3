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

import java.io.ByteArrayOutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.Selector;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A stream without a network: reads bytes from a script in pieces of given lengths, and
 * keeps what is written. When the script is over the stream ends.
 */
class ScriptedStream implements ByteStream {

	private static final InetSocketAddress ADDRESS = new InetSocketAddress(InetAddress.getLoopbackAddress(), 1);

	private final ByteBuffer script;

	private final int[] pieces;

	private final ByteArrayOutputStream written = new ByteArrayOutputStream();

	private final CountDownLatch halfClosed = new CountDownLatch(1);

	private int piece;

	private boolean pause;

	/**
	 * Creates a stream.
	 * @param script what will be read
	 * @param pieces the most bytes that the first, second, … read finds, in rotation;
	 * each is followed by a read that finds nothing
	 */
	ScriptedStream(ByteBuffer script, int... pieces) {
		this.script = script;
		this.pieces = pieces;
	}

	/** Whether everything was read. */
	boolean isExhausted() {
		return !this.script.hasRemaining();
	}

	/** All that was written, once the stream was half-closed. */
	byte[] written() throws InterruptedException {
		assertThat(this.halfClosed.await(10, TimeUnit.SECONDS)).as("half-closed in time").isTrue();
		return this.written.toByteArray();
	}

	@Override
	public int read(ByteBuffer target) {
		return (int) read(new ByteBuffer[] { target }, 0, 1);
	}

	@Override
	public long read(ByteBuffer[] targets, int offset, int length) {
		if (isExhausted() || this.halfClosed.getCount() == 0) {
			return -1;
		}
		this.pause = !this.pause;
		if (!this.pause) {
			return 0;
		}
		int available = Math.min(this.script.remaining(), Math.max(1, this.pieces[this.piece++ % this.pieces.length]));
		int read = 0;
		for (int i = offset; i < offset + length && read < available; i++) {
			int count = Math.min(available - read, targets[i].remaining());
			targets[i].put(this.script.slice(this.script.position(), count));
			this.script.position(this.script.position() + count);
			read += count;
		}
		return read;
	}

	@Override
	public int write(ByteBuffer source) {
		int count = source.remaining();
		while (source.hasRemaining()) {
			this.written.write(source.get());
		}
		return count;
	}

	@Override
	public long write(ByteBuffer[] sources, int offset, int length) {
		long count = 0;
		for (int i = offset; i < offset + length; i++) {
			count += write(sources[i]);
		}
		return count;
	}

	@Override
	public boolean finishConnect() {
		return true;
	}

	@Override
	public void watch(Selector selector, int interest, Object attachment) {
		throw new UnsupportedOperationException();
	}

	@Override
	public void interest(int interest) {
		// No selector watches.
	}

	@Override
	public void unwatch() {
		// No selector watches.
	}

	@Override
	public void shutdownOutput() {
		this.halfClosed.countDown();
	}

	@Override
	public InetSocketAddress localAddress() {
		return ADDRESS;
	}

	@Override
	public InetSocketAddress remoteAddress() {
		return ADDRESS;
	}

	@Override
	public boolean isOpen() {
		return true;
	}

	@Override
	public void close() {
		// Nothing to close.
	}

}
