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
import java.nio.ByteBuffer;
import java.nio.channels.Selector;

/**
 * A layer that takes and gives as little as a stream may: its first bytes behind the
 * handshake one at a time, the others in pieces of odd lengths, and now and then nothing
 * although the selector has said that there is something.
 */
final class AwkwardStream implements ByteStream {

	/** Pass whole, or the listener takes many handshakes at once for a flood. */
	private static final int HANDSHAKE_BYTES = 64;

	private static final int SINGLE_BYTES = 500;

	private static final int[] PIECES = { 1, 0, 19, 65_536, 2, 0, 0, 333, 30_000, 7, 200_000 };

	private final ByteStream below;

	private final Direction reads = new Direction();

	private final Direction writes = new Direction();

	AwkwardStream(ByteStream below) {
		this.below = below;
	}

	@Override
	public int read(ByteBuffer target) throws IOException {
		return this.reads.moved(read(target, this.reads.next()));
	}

	@Override
	public long read(ByteBuffer[] targets, int offset, int length) throws IOException {
		int left = this.reads.next();
		int total = 0;
		for (int i = offset; i < offset + length && left > 0; i++) {
			int asked = Math.min(left, targets[i].remaining());
			int count = read(targets[i], asked);
			if (count < 0 && total == 0) {
				return count;
			}
			total += Math.max(0, count);
			left = (count == asked) ? left - count : 0;
		}
		return this.reads.moved(total);
	}

	private int read(ByteBuffer target, int most) throws IOException {
		int limit = target.limit();
		int asked = Math.min(most, target.remaining());
		int count = (asked > 0) ? this.below.read(target.limit(target.position() + asked)) : 0;
		target.limit(limit);
		return count;
	}

	@Override
	public int write(ByteBuffer source) throws IOException {
		return this.writes.moved(write(source, this.writes.next()));
	}

	@Override
	public long write(ByteBuffer[] sources, int offset, int length) throws IOException {
		int left = this.writes.next();
		int total = 0;
		for (int i = offset; i < offset + length && left > 0; i++) {
			int asked = Math.min(left, sources[i].remaining());
			int count = write(sources[i], asked);
			total += count;
			left = (count == asked) ? left - count : 0;
		}
		return this.writes.moved(total);
	}

	private int write(ByteBuffer source, int most) throws IOException {
		int limit = source.limit();
		int asked = Math.min(most, source.remaining());
		int count = (asked > 0) ? this.below.write(source.limit(source.position() + asked)) : 0;
		source.limit(limit);
		return count;
	}

	@Override
	public boolean finishConnect() throws IOException {
		return this.below.finishConnect();
	}

	@Override
	public void watch(Selector selector, int interest, Object attachment) throws IOException {
		this.below.watch(selector, interest, attachment);
	}

	@Override
	public void interest(int interest) {
		this.below.interest(interest);
	}

	@Override
	public void unwatch() {
		this.below.unwatch();
	}

	@Override
	public void shutdownOutput() throws IOException {
		this.below.shutdownOutput();
	}

	@Override
	public InetSocketAddress localAddress() throws IOException {
		return this.below.localAddress();
	}

	@Override
	public InetSocketAddress remoteAddress() throws IOException {
		return this.below.remoteAddress();
	}

	@Override
	public boolean isOpen() {
		return this.below.isOpen();
	}

	@Override
	public void close() throws IOException {
		this.below.close();
	}

	/** One direction. */
	private static final class Direction {

		private long moved;

		private int piece;

		/** How many bytes to move at most. */
		int next() {
			if (this.moved < HANDSHAKE_BYTES) {
				return HANDSHAKE_BYTES;
			}
			return (this.moved < SINGLE_BYTES) ? 1 : PIECES[this.piece++ % PIECES.length];
		}

		int moved(int bytes) {
			this.moved += Math.max(0, bytes);
			return bytes;
		}

	}

}
