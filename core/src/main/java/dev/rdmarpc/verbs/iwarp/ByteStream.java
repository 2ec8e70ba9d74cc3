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
import java.security.cert.X509Certificate;
import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * The bytes under MPA: an ordered stream that never waits, with one selector at a time
 * that says when it is ready. Reads and writes may be as short as they like, but what a
 * write has not taken has to begin the next one, because it may be on its way already.
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

	/**
	 * Whether there are bytes to read of which the selector says nothing, because the
	 * stream has taken them already.
	 */
	default boolean holdsBytes() {
		return false;
	}

	/** Whether the stream has taken a part of something that it gives as a whole only. */
	default boolean awaitsRest() {
		return false;
	}

	/** Why the peer is to be told nothing but that, or {@code null}. */
	default @Nullable String objection() {
		return null;
	}

	/** The certificates that the peer has proved to be its own, its own one first. */
	default List<X509Certificate> peerCertificates() {
		return List.of();
	}

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
