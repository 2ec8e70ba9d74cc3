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
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketAddress;
import java.net.SocketOption;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A socket without a network: reads bytes from a script in pieces of given lengths, and
 * keeps what is written. When the script is over the stream ends.
 */
class ScriptedChannel extends SocketChannel {

	private static final InetSocketAddress ADDRESS = new InetSocketAddress(InetAddress.getLoopbackAddress(), 1);

	private final ByteBuffer script;

	private final int[] pieces;

	private final ByteArrayOutputStream written = new ByteArrayOutputStream();

	private final CountDownLatch halfClosed = new CountDownLatch(1);

	private int piece;

	private boolean pause;

	/**
	 * Creates a channel.
	 * @param script what will be read
	 * @param pieces the most bytes that the first, second, … read finds, in rotation;
	 * each is followed by a read that finds nothing
	 */
	ScriptedChannel(ByteBuffer script, int... pieces) {
		super(null);
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
	public SocketChannel shutdownInput() {
		return this;
	}

	@Override
	public SocketChannel shutdownOutput() {
		this.halfClosed.countDown();
		return this;
	}

	@Override
	public SocketAddress getLocalAddress() {
		return ADDRESS;
	}

	@Override
	public SocketAddress getRemoteAddress() {
		return ADDRESS;
	}

	@Override
	public boolean isConnected() {
		return true;
	}

	@Override
	public boolean isConnectionPending() {
		return false;
	}

	@Override
	public SocketChannel bind(@Nullable SocketAddress local) {
		throw new UnsupportedOperationException();
	}

	@Override
	public <T> SocketChannel setOption(SocketOption<T> name, T value) {
		return this;
	}

	@Override
	public <T> T getOption(SocketOption<T> name) {
		throw new UnsupportedOperationException();
	}

	@Override
	public Set<SocketOption<?>> supportedOptions() {
		return Set.of();
	}

	@Override
	public Socket socket() {
		throw new UnsupportedOperationException();
	}

	@Override
	public boolean connect(SocketAddress remote) {
		throw new UnsupportedOperationException();
	}

	@Override
	public boolean finishConnect() {
		return true;
	}

	@Override
	protected void implCloseSelectableChannel() throws IOException {
		// Nothing to close.
	}

	@Override
	protected void implConfigureBlocking(boolean block) throws IOException {
		// Never blocks.
	}

	/** A key of no selector. */
	static final class Key extends SelectionKey {

		private final ScriptedChannel channel;

		private int interest = SelectionKey.OP_READ;

		Key(ScriptedChannel channel) {
			this.channel = channel;
		}

		@Override
		public ScriptedChannel channel() {
			return this.channel;
		}

		@Override
		public Selector selector() {
			throw new UnsupportedOperationException();
		}

		@Override
		public boolean isValid() {
			return true;
		}

		@Override
		public void cancel() {
			// No selector has to be told.
		}

		@Override
		public int interestOps() {
			return this.interest;
		}

		@Override
		public SelectionKey interestOps(int ops) {
			this.interest = ops;
			return this;
		}

		@Override
		public int readyOps() {
			return this.interest;
		}

	}

}
