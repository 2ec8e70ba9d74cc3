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
import java.nio.channels.GatheringByteChannel;
import java.nio.channels.ScatteringByteChannel;
import java.nio.channels.Selector;

/**
 * The bytes under MPA: an ordered stream that never waits, with one selector at a time
 * that says when it is ready. Reads and writes may be as short as they like. A stream
 * holds no bytes back: what its selector reports as ready is all there is to read.
 */
interface ByteStream extends ScatteringByteChannel, GatheringByteChannel {

	/** Goes on connecting; returns whether bytes can be written. */
	boolean finishConnect() throws IOException;

	/**
	 * Has a selector watch the stream.
	 * @param interest a set of operations of {@link java.nio.channels.SelectionKey}
	 * @param attachment of the selector's key
	 */
	void watch(Selector selector, int interest, Object attachment) throws IOException;

	/** Changes what the stream is watched for. */
	void interest(int interest);

	/** Leaves the selector, which has to select once before another may watch. */
	void unwatch();

	/** Ends the stream in one direction, after what was written. */
	void shutdownOutput() throws IOException;

	InetSocketAddress localAddress() throws IOException;

	InetSocketAddress remoteAddress() throws IOException;

	@Override
	default long read(ByteBuffer[] targets) throws IOException {
		return read(targets, 0, targets.length);
	}

	@Override
	default long write(ByteBuffer[] sources) throws IOException {
		return write(sources, 0, sources.length);
	}

}
