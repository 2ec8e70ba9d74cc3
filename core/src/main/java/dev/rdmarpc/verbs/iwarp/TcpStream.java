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
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;

import org.jspecify.annotations.Nullable;

/** Plain TCP. */
final class TcpStream implements ByteStream {

	private final SocketChannel channel;

	private @Nullable SelectionKey key;

	/** The last that has read or written several buffers at once. */
	private @Nullable Thread gathering;

	private TcpStream(SocketChannel channel) {
		this.channel = channel;
	}

	/** Opens a stream and begins to connect it. */
	static TcpStream connect(InetSocketAddress remote, IwarpOptions options) throws IOException {
		TcpStream stream = new TcpStream(SocketChannel.open());
		boolean begun = false;
		try {
			stream.prepare(options);
			stream.channel.connect(remote);
			begun = true;
			return stream;
		}
		finally {
			if (!begun) {
				SocketHandler.closeQuietly(stream);
			}
		}
	}

	/** Takes a connection that waits, if any; it is to be prepared. */
	static @Nullable TcpStream accept(ServerSocketChannel server) throws IOException {
		SocketChannel accepted = server.accept();
		return (accepted != null) ? new TcpStream(accepted) : null;
	}

	/**
	 * Closes a socket while there are descriptors: the first one that a virtual machine
	 * closes needs another two, and if there are none then, it closes no socket ever.
	 * What else the first streams would make is made, too.
	 */
	static void prepare() throws IOException {
		ThreadVectors.prepare();
		SocketChannel.open().close();
	}

	/** Gives the socket the settings of a device. */
	void prepare(IwarpOptions options) throws IOException {
		this.channel.configureBlocking(false);
		this.channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
		if (options.sendBufferBytes() > 0) {
			this.channel.setOption(StandardSocketOptions.SO_SNDBUF, options.sendBufferBytes());
		}
		if (options.receiveBufferBytes() > 0) {
			this.channel.setOption(StandardSocketOptions.SO_RCVBUF, options.receiveBufferBytes());
		}
	}

	@Override
	public boolean finishConnect() throws IOException {
		return this.channel.isConnected() || this.channel.finishConnect();
	}

	@Override
	public int read(ByteBuffer target) throws IOException {
		return this.channel.read(target);
	}

	@Override
	public long read(ByteBuffer[] targets, int offset, int length) throws IOException {
		if (length == 1) {
			return this.channel.read(targets[offset]);
		}
		this.gathering = ThreadVectors.reserve(this.channel, this.gathering);
		return this.channel.read(targets, offset, length);
	}

	@Override
	public int write(ByteBuffer source) throws IOException {
		return this.channel.write(source);
	}

	@Override
	public long write(ByteBuffer[] sources, int offset, int length) throws IOException {
		if (length == 1) {
			return this.channel.write(sources[offset]);
		}
		this.gathering = ThreadVectors.reserve(this.channel, this.gathering);
		return this.channel.write(sources, offset, length);
	}

	@Override
	public void watch(Selector selector, int interest, Object attachment) throws IOException {
		this.key = this.channel.register(selector, interest, attachment);
	}

	@Override
	public void interest(int interest) {
		SelectionKey current = this.key;
		if (current != null) {
			current.interestOps(interest);
		}
	}

	@Override
	public void unwatch() {
		SelectionKey current = this.key;
		if (current != null) {
			current.cancel();
		}
	}

	@Override
	public void shutdownOutput() throws IOException {
		this.channel.shutdownOutput();
	}

	@Override
	public InetSocketAddress localAddress() throws IOException {
		return (InetSocketAddress) this.channel.getLocalAddress();
	}

	@Override
	public InetSocketAddress remoteAddress() throws IOException {
		return (InetSocketAddress) this.channel.getRemoteAddress();
	}

	@Override
	public boolean isOpen() {
		return this.channel.isOpen();
	}

	@Override
	public void close() throws IOException {
		this.channel.close();
	}

}
