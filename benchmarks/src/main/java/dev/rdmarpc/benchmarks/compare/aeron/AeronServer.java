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

package dev.rdmarpc.benchmarks.compare.aeron;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

import io.aeron.Aeron;
import io.aeron.ExclusivePublication;
import io.aeron.FragmentAssembler;
import io.aeron.Subscription;
import io.aeron.driver.MediaDriver;
import io.aeron.driver.ThreadingMode;
import io.aeron.logbuffer.BufferClaim;
import io.aeron.logbuffer.FrameDescriptor;
import io.aeron.logbuffer.Header;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.jspecify.annotations.Nullable;

import dev.rdmarpc.benchmarks.compare.Exchange;
import dev.rdmarpc.benchmarks.compare.PeerServer;

/**
 * Answers messages on one thread, which spins while there are clients and sleeps a
 * millisecond at a time while there are none. Uploads are counted where they lie, piece
 * by piece, as the floor does.
 */
final class AeronServer implements PeerServer, Runnable {

	private static final int TERM_BYTES = 16 << 20;

	private static final int FRAGMENTS = 64;

	private static final long REST_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

	private final int port;

	private final MediaDriver driver;

	private final Aeron aeron;

	private final Subscription requests;

	private final Thread thread = new Thread(this, "aeron-server");

	private final Map<Integer, Connection> connections = new HashMap<>();

	private final FragmentAssembler whole = new FragmentAssembler(
			(buffer, at, length, header) -> connection(header).serve(buffer, at, length));

	private volatile boolean closed;

	private AeronServer(int port, MediaDriver driver) {
		this.port = port;
		this.driver = driver;
		this.aeron = Aeron.connect(new Aeron.Context().aeronDirectoryName(driver.aeronDirectoryName()));
		this.requests = this.aeron.addSubscription(AeronMessage.CHANNEL, AeronMessage.REQUESTS);
	}

	static AeronServer start() throws IOException {
		int port = ThreadLocalRandom.current().nextInt(1024, 65536);
		Path directory = AeronMessage.directory(port);
		if (Files.exists(directory)) {
			throw new IOException(directory + " exists");
		}
		MediaDriver driver = MediaDriver.launch(new MediaDriver.Context().aeronDirectoryName(directory.toString())
			.threadingMode(ThreadingMode.SHARED)
			.ipcTermBufferLength(TERM_BYTES)
			.termBufferSparseFile(true)
			.dirDeleteOnShutdown(true));
		AeronServer server = new AeronServer(port, driver);
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
		try {
			this.thread.join();
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new InterruptedIOException();
		}
		this.aeron.close();
		this.driver.close();
	}

	@Override
	public void run() {
		while (!this.closed) {
			if (this.requests.hasNoImages()) {
				forgetAll();
				LockSupport.parkNanos(REST_NANOS);
			}
			else if (this.requests.poll(this::arrived, FRAGMENTS) == 0) {
				Thread.onSpinWait();
			}
		}
	}

	private void forgetAll() {
		this.connections.values().forEach(Connection::close);
		this.connections.clear();
	}

	private Connection connection(Header header) {
		return this.connections.computeIfAbsent(header.sessionId(), (session) -> new Connection(this.aeron));
	}

	private void arrived(DirectBuffer buffer, int at, int length, Header header) {
		Connection connection = connection(header);
		boolean begins = (header.flags() & FrameDescriptor.BEGIN_FRAG_FLAG) != 0;
		if (!begins && connection.uploadLeft > 0) {
			connection.count(length);
		}
		else if (begins && buffer.getInt(at + AeronMessage.KIND_OFFSET) == AeronMessage.UPLOAD) {
			connection.upload(buffer, at, length);
		}
		else {
			this.whole.onFragment(buffer, at, length, header);
		}
	}

	/** The state of one client's connection. */
	private static final class Connection {

		private final Aeron aeron;

		private final BufferClaim claim = new BufferClaim();

		private final UnsafeBuffer reply = new UnsafeBuffer(new byte[AeronMessage.SIZE + Exchange.REPLY_BYTES]);

		private @Nullable ExclusivePublication replies;

		private int uploadBytes;

		private int uploadSlot;

		private int uploadLeft;

		Connection(Aeron aeron) {
			this.aeron = aeron;
		}

		void serve(DirectBuffer buffer, int at, int length) {
			if (buffer.getInt(at + AeronMessage.KIND_OFFSET) == AeronMessage.HELLO) {
				this.replies = this.aeron.addExclusivePublication(AeronMessage.CHANNEL,
						buffer.getInt(at + AeronMessage.SLOT_OFFSET));
			}
			else {
				reply(buffer, at, length);
			}
		}

		void upload(DirectBuffer buffer, int at, int length) {
			this.uploadBytes = buffer.getInt(at + AeronMessage.BYTES_OFFSET);
			this.uploadSlot = buffer.getInt(at + AeronMessage.SLOT_OFFSET);
			this.uploadLeft = this.uploadBytes;
			count(length - AeronMessage.SIZE);
		}

		void count(int bytes) {
			this.uploadLeft -= bytes;
			if (this.uploadLeft == 0) {
				AeronMessage.header(this.reply, 0, Exchange.REPLY_BYTES, AeronMessage.UPLOAD, this.uploadSlot);
				this.reply.putLong(AeronMessage.SIZE, this.uploadBytes);
				reply(this.reply, 0, this.reply.capacity());
			}
		}

		private void reply(DirectBuffer buffer, int at, int length) {
			AeronMessage.send(Objects.requireNonNull(this.replies), this.claim, buffer, at, length);
		}

		void close() {
			if (this.replies != null) {
				this.replies.close();
			}
		}

	}

}
