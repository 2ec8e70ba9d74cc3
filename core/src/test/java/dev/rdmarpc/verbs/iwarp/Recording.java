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
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What was sent over the connections of a {@link RecordingProxy}, in an order in which it
 * can have happened: nothing stands before what caused it. Safe for use by several
 * threads.
 */
final class Recording {

	private final List<Chunk> chunks = new ArrayList<>();

	/** Adds bytes that the receiver has not seen yet; none stand for the end. */
	synchronized void add(int connection, boolean fromClient, byte[] bytes) {
		this.chunks.add(new Chunk(connection, fromClient, bytes));
		notifyAll();
	}

	/** A copy of what was recorded so far. */
	synchronized List<Chunk> chunks() {
		return List.copyOf(this.chunks);
	}

	/** Waits until so many directions of connections have ended. */
	synchronized void awaitEnds(int directions) throws InterruptedException {
		long deadline = System.nanoTime() + Endpoint.DEADLINE.toNanos();
		while (this.chunks.stream().filter(Chunk::isEnd).count() < directions) {
			long remaining = deadline - System.nanoTime();
			assertThat(remaining).as("deadline for %d ends", directions).isPositive();
			TimeUnit.NANOSECONDS.timedWait(this, remaining);
		}
	}

	/** All bytes of one direction of a connection. */
	byte[] stream(int connection, boolean fromClient) {
		ByteArrayOutputStream bytes = new ByteArrayOutputStream();
		for (Chunk chunk : chunks()) {
			if (chunk.connection == connection && chunk.fromClient == fromClient) {
				bytes.writeBytes(chunk.bytes);
			}
		}
		return bytes.toByteArray();
	}

	/** The same with one bit of a direction of a connection changed. */
	Recording withFlippedBit(int connection, boolean fromClient, int position) {
		Recording changed = new Recording();
		int before = 0;
		for (Chunk chunk : chunks()) {
			byte[] bytes = chunk.bytes;
			if (chunk.connection == connection && chunk.fromClient == fromClient) {
				if (position >= before && position < before + bytes.length) {
					bytes = bytes.clone();
					bytes[position - before] ^= 0x01;
				}
				before += bytes.length;
			}
			changed.add(chunk.connection, chunk.fromClient, bytes);
		}
		assertThat(position).isLessThan(before);
		return changed;
	}

	/**
	 * Bytes of one direction, as the proxy read them.
	 *
	 * @param connection number of the connection, from 0
	 * @param fromClient whether the client sent them
	 * @param bytes the bytes, none for the end of the direction
	 */
	record Chunk(int connection, boolean fromClient, byte[] bytes) {

		boolean isEnd() {
			return this.bytes.length == 0;
		}

	}

}
