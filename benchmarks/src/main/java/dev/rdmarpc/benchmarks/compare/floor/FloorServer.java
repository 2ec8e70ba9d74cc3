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

package dev.rdmarpc.benchmarks.compare.floor;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;

import dev.rdmarpc.benchmarks.compare.Exchange;
import dev.rdmarpc.benchmarks.compare.PeerServer;

/**
 * Answers frames on one thread: it spins over its connections while it has some, and
 * sleeps in a selector while it has none.
 */
final class FloorServer implements PeerServer, Runnable {

	private static final int ACCEPT_INTERVAL = 1024;

	private final Endpoint endpoint;

	private final int port;

	private final ServerSocketChannel listener;

	private final Selector selector;

	private final Thread thread = new Thread(this, "floor-server");

	private final List<Connection> connections = new ArrayList<>();

	private final boolean placing;

	private volatile boolean closed;

	private FloorServer(Endpoint endpoint, Endpoint.Listening listening, Selector selector, boolean placing) {
		this.endpoint = endpoint;
		this.port = listening.port();
		this.placing = placing;
		this.listener = listening.channel();
		this.selector = selector;
	}

	static FloorServer start(Endpoint endpoint, boolean placing) throws IOException {
		Endpoint.Listening listening = endpoint.listen();
		listening.channel().configureBlocking(false);
		Selector selector = Selector.open();
		listening.channel().register(selector, SelectionKey.OP_ACCEPT);
		FloorServer server = new FloorServer(endpoint, listening, selector, placing);
		server.thread.setDaemon(true);
		server.thread.start();
		return server;
	}

	@Override
	public int port() {
		return this.port;
	}

	@Override
	public void close() throws IOException {
		this.closed = true;
		this.selector.wakeup();
		try {
			this.thread.join();
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new InterruptedIOException();
		}
		this.selector.close();
		this.listener.close();
		this.endpoint.forget(this.port);
	}

	@Override
	public void run() {
		try {
			int rounds = 0;
			while (!this.closed) {
				if (this.connections.isEmpty()) {
					this.selector.select((key) -> {
					});
					accept();
				}
				else if (++rounds % ACCEPT_INTERVAL == 0) {
					accept();
				}
				serveAll();
			}
			for (Connection connection : this.connections) {
				connection.channel.close();
			}
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private void accept() throws IOException {
		SocketChannel channel = this.listener.accept();
		while (channel != null) {
			this.endpoint.prepare(channel);
			this.connections.add(new Connection(channel, this.placing));
			channel = this.listener.accept();
		}
	}

	private void serveAll() throws IOException {
		boolean idle = true;
		for (int i = this.connections.size() - 1; i >= 0; i--) {
			Connection connection = this.connections.get(i);
			int read = connection.serve();
			if (read < 0) {
				connection.channel.close();
				this.connections.remove(i);
			}
			idle &= read == 0;
		}
		if (idle) {
			Thread.onSpinWait();
		}
	}

	/** The state of one connection. */
	private static final class Connection {

		private static final int BUFFER_BYTES = 256 * 1024;

		private final SocketChannel channel;

		private final ByteBuffer in = ByteBuffer.allocateDirect(BUFFER_BYTES);

		private final ByteBuffer out = ByteBuffer.allocateDirect(BUFFER_BYTES);

		private final boolean placing;

		private final ByteBuffer[] placeAndNext = { ByteBuffer.allocate(0), this.in };

		private int uploadBytes;

		private int uploadSlot;

		private int uploadLeft;

		private boolean uploading;

		Connection(SocketChannel channel, boolean placing) {
			this.channel = channel;
			this.placing = placing;
		}

		int serve() {
			try {
				int read = read();
				if (read > 0 || this.in.position() > 0 || this.out.position() > 0) {
					this.in.flip();
					boolean more;
					do {
						more = serveFrame();
					}
					while (more);
					this.in.compact();
					this.out.flip();
					this.channel.write(this.out);
					this.out.compact();
				}
				return read;
			}
			catch (IOException ex) {
				return -1;
			}
		}

		private int read() throws IOException {
			ByteBuffer place = this.placeAndNext[0];
			if (place.capacity() == 0) {
				return this.channel.read(this.in);
			}
			this.in.limit(Math.max(FrameHeader.SIZE, this.in.position()));
			int read = (int) this.channel.read(this.placeAndNext);
			this.uploadLeft = this.uploading ? place.remaining() : 0;
			return read;
		}

		private boolean serveFrame() {
			if (this.uploading) {
				return receiveUpload();
			}
			int at = this.in.position();
			if (this.in.remaining() < FrameHeader.SIZE) {
				return false;
			}
			int bytes = this.in.getInt(at + FrameHeader.BYTES_OFFSET);
			if (this.in.getInt(at + FrameHeader.KIND_OFFSET) == FrameHeader.UPLOAD) {
				this.uploadSlot = this.in.getInt(at + FrameHeader.SLOT_OFFSET);
				this.uploadBytes = bytes;
				this.uploadLeft = bytes;
				this.uploading = true;
				this.in.position(at + FrameHeader.SIZE);
				if (this.placing) {
					place(bytes);
				}
				return receiveUpload();
			}
			int size = FrameHeader.SIZE + bytes;
			if (this.in.remaining() < size || this.out.remaining() < size) {
				return false;
			}
			this.out.put(this.out.position(), this.in, at, size);
			this.out.position(this.out.position() + size);
			this.in.position(at + size);
			return true;
		}

		/** Where the upload goes; what has come with its header is copied there. */
		private void place(int bytes) {
			ByteBuffer place = this.placeAndNext[0];
			if (place.capacity() != bytes) {
				place = ByteBuffer.allocateDirect(bytes);
				this.placeAndNext[0] = place;
			}
			int part = Math.min(bytes, this.in.remaining());
			place.clear().put(0, this.in, this.in.position(), part).position(part);
		}

		private boolean receiveUpload() {
			int part = Math.min(this.uploadLeft, this.in.remaining());
			if (part == this.uploadLeft) {
				if (this.out.remaining() < FrameHeader.SIZE + Exchange.REPLY_BYTES) {
					return false;
				}
				this.out.putInt(Exchange.REPLY_BYTES).putInt(FrameHeader.UPLOAD).putInt(this.uploadSlot);
				this.out.putLong(this.uploadBytes);
			}
			this.in.position(this.in.position() + part);
			this.uploadLeft -= part;
			this.uploading = this.uploadLeft > 0;
			return !this.uploading;
		}

	}

}
