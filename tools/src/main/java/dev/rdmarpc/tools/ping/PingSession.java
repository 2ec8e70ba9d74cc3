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

package dev.rdmarpc.tools.ping;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.EnumSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

import dev.rdmarpc.verbs.AccessFlag;
import dev.rdmarpc.verbs.ConnectionInfo;
import dev.rdmarpc.verbs.MemoryRegion;
import dev.rdmarpc.verbs.RemoteRegion;
import dev.rdmarpc.verbs.VerbsException;

/**
 * A responder's end of one connection: answers pings until the initiator goes away.
 *
 * <p>
 * Used by one thread.
 */
final class PingSession {

	/** How long an initiator may leave its connection without a ping. */
	private static final Duration PATIENCE = Duration.ofMinutes(10);

	private static final RemoteRegion NOTHING = new RemoteRegion(0, 0, 0);

	private final PingConnection connection;

	private final boolean validate;

	private MemoryRegion data;

	private MemoryRegion expected;

	private long pings;

	private long bytes;

	/**
	 * Creates a session that borrows its connection.
	 * @param validate whether to compare what is read with what an initiator sends
	 */
	PingSession(PingConnection connection, boolean validate) {
		this.connection = connection;
		this.validate = validate;
		this.data = register(PingData.MIN_BYTES);
		this.expected = register(PingData.MIN_BYTES);
	}

	private MemoryRegion register(int sizeBytes) {
		return this.connection.register(sizeBytes, EnumSet.of(AccessFlag.LOCAL_WRITE));
	}

	/** Answers until the end, whichever it is. */
	PingOutcome run(InetSocketAddress peer, CompletableFuture<ConnectionInfo> accepted, Duration timeout) {
		try {
			accepted.get(timeout.toNanos(), TimeUnit.NANOSECONDS);
			while (this.connection.awaitReceived("ping " + (this.pings + 1), PATIENCE)) {
				answer();
			}
			return new PingOutcome(peer, this.pings, this.bytes, null);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			return failed(peer, "interrupted");
		}
		catch (ExecutionException ex) {
			return failed(peer, "the connection could not be set up: " + ex.getCause());
		}
		catch (TimeoutException ex) {
			return failed(peer, "the initiator did not finish setting up the connection");
		}
		catch (PingException | VerbsException ex) {
			return failed(peer, String.valueOf(ex.getMessage()));
		}
	}

	private PingOutcome failed(InetSocketAddress peer, String reason) {
		return new PingOutcome(peer, this.pings, this.bytes, reason);
	}

	private void answer() {
		String what = "ping " + (this.pings + 1);
		RemoteRegion source = this.connection.receive(what);
		int size = size(source, what);
		reserve(size);
		this.connection.read(source, this.data, size, "the data of " + what);
		if (this.validate) {
			PingData.fill(this.expected.memory(), size, this.pings);
			PingData.check(this.expected.memory(), this.data.memory(), size, "the data of " + what);
		}
		this.connection.send(NOTHING, what);
		RemoteRegion sink = this.connection.receive("a place for the data of " + what);
		if (sink.lengthBytes() < size) {
			throw PingException.of("the place for the data of %s has %d bytes (expected: at least %d)", what,
					sink.lengthBytes(), size);
		}
		this.connection.write(this.data, sink, size, "the data of " + what + " to be written");
		this.connection.send(NOTHING, what);
		this.pings++;
		this.bytes += size;
	}

	private static int size(RemoteRegion source, String what) {
		if (source.lengthBytes() == 0 || source.lengthBytes() > PingData.MAX_BYTES) {
			throw PingException.of("%s has %d bytes of data (expected: 1 to %d)", what, source.lengthBytes(),
					PingData.MAX_BYTES);
		}
		return (int) source.lengthBytes();
	}

	private void reserve(int sizeBytes) {
		if (sizeBytes > this.data.lengthBytes()) {
			this.data.close();
			this.expected.close();
			this.data = register(sizeBytes);
			this.expected = register(sizeBytes);
		}
	}

}
