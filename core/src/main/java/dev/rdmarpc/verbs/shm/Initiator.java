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

package dev.rdmarpc.verbs.shm;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.verbs.ConnectOptions;
import dev.rdmarpc.verbs.ConnectionInfo;
import dev.rdmarpc.verbs.VerbsError;
import dev.rdmarpc.verbs.VerbsException;
import dev.rdmarpc.verbs.shm.Connection.EstablishedPeer;
import dev.rdmarpc.verbs.shm.ring.RingDescriptor;

/** The connecting side of a set-up, on the connection thread. */
final class Initiator extends SetupHandler {

	/** How soon to try again when the listener has no place. */
	private static final long RETRY_NANOS = TimeUnit.MILLISECONDS.toNanos(5);

	private static final int MAX_PORT = 0xFFFF;

	/** Ports as peers see them; they only tell the connections of a process apart. */
	private static final AtomicInteger ports = new AtomicInteger();

	private final SharedMemoryDevice device;

	private final ConnectionThread thread;

	private final Lifecycle lifecycle;

	private final InetSocketAddress remote;

	private final InetSocketAddress local;

	private final ConnectOptions options;

	private final long endNanos;

	private final CompletableFuture<ConnectionInfo> result = new CompletableFuture<>();

	private final ByteBuffer frame = ByteBuffer.allocate(SetupFrame.BYTES);

	private @Nullable SocketChannel socket;

	private Initiator(SharedMemoryDevice device, Lifecycle lifecycle, InetSocketAddress remote,
			ConnectOptions options) {
		super(System.nanoTime() + options.timeoutNanos());
		this.device = device;
		this.thread = device.connectionThread();
		this.lifecycle = lifecycle;
		this.remote = remote;
		this.options = options;
		this.endNanos = deadlineNanos();
		int port = 1 + Math.floorMod(ports.getAndIncrement(), MAX_PORT);
		this.local = remote.isUnresolved() ? remote : new InetSocketAddress(remote.getAddress(), port);
	}

	/** Starts to connect; from any thread. The queue pair is claimed. */
	static CompletableFuture<ConnectionInfo> start(SharedMemoryDevice device, Lifecycle lifecycle,
			InetSocketAddress remote, ConnectOptions options) {
		ConnectionThread thread = device.connectionThread();
		boolean begun = false;
		try {
			thread.start();
			Initiator initiator = new Initiator(device, lifecycle, remote, options);
			thread.addAttempt(lifecycle.queuePair(), initiator);
			initiator.result.whenComplete((info, ex) -> {
				if (initiator.result.isCancelled()) {
					thread.execute(
							() -> initiator.failed(new VerbsException(VerbsError.CLOSED, "attempt was cancelled")));
				}
			});
			thread.execute(initiator::begin);
			begun = true;
			return initiator.result;
		}
		finally {
			if (!begun) {
				thread.removeAttempt(lifecycle.queuePair());
				lifecycle.connectingFailed();
			}
		}
	}

	private void begin() {
		if (isFinished()) {
			return;
		}
		this.thread.add(this);
		try {
			checkAddress();
			connect();
		}
		catch (IOException | VerbsException ex) {
			failed(ex);
		}
	}

	private void checkAddress() {
		if (this.remote.isUnresolved()) {
			throw new VerbsException(VerbsError.UNREACHABLE, this.remote + " is not resolved");
		}
		if (!SharedMemoryListener.isHere(this.remote)) {
			throw new VerbsException(VerbsError.UNREACHABLE,
					"shared memory does not reach " + this.remote + " (expected: an address of this host)");
		}
	}

	private void connect() throws IOException {
		SocketChannel connected = this.device.rendezvous().connect(this.remote.getPort());
		if (connected == null) {
			this.thread.postpone(this, Math.min(this.endNanos, System.nanoTime() + RETRY_NANOS));
			return;
		}
		this.socket = connected;
		this.thread.postpone(this, this.endNanos);
		new SetupFrame(SetupFrame.Kind.REQUEST, this.options.readDepth(), this.options.responderResources(),
				this.local.getPort(), this.options.privateData(), SetupFrame.nameOf(this.remote.getAddress()))
			.write(connected);
		this.thread.register(connected, SelectionKey.OP_READ, this);
	}

	@Override
	void ready() throws IOException {
		SocketChannel current = this.socket;
		if (current == null) {
			return;
		}
		if (current.read(this.frame) < 0) {
			this.device.rendezvous().sweep(this.remote.getPort());
			throw new VerbsException(VerbsError.CONNECTION_LOST,
					"listener at " + this.remote + " has closed the connection during set-up");
		}
		if (!this.frame.hasRemaining()) {
			answered(current, SetupFrame.read(this.frame));
		}
	}

	private void answered(SocketChannel current, SetupFrame answer) throws IOException {
		if (answer.kind() == SetupFrame.Kind.REJECTION) {
			throw new VerbsException(VerbsError.CONNECTION_REJECTED, "listener at " + this.remote + " has rejected",
					null, answer.privateData());
		}
		int ringBytes = answer.number();
		if (answer.kind() != SetupFrame.Kind.ACCEPTANCE || !RingDescriptor.isCapacity(ringBytes)) {
			throw new VerbsException(VerbsError.PROTOCOL_ERROR, "listener at " + this.remote + " answers nonsense");
		}
		int readDepth = Math.min(this.options.readDepth(), answer.responderResources());
		int responderResources = Math.min(this.options.responderResources(), answer.readDepth());
		FileChannel file = null;
		boolean established = false;
		try {
			int port = this.remote.getPort();
			long bytes = RingDescriptor.totalBytes(ringBytes);
			file = this.device.rendezvous().openFile(port, answer.name(), bytes);
			ByteBuffer memory = file.map(FileChannel.MapMode.READ_WRITE, 0, bytes);
			this.device.rendezvous().removeConnection(answer.name());
			this.thread.deregister(current);
			EstablishedPeer peer = new EstablishedPeer(current, file, memory, ringBytes, 1, readDepth,
					responderResources, this.device.trusted(), (lastReader) -> sweepLater(port, lastReader));
			peer.announce(this.lifecycle.queuePair());
			current.write(ByteBuffer.allocate(1));
			if (!this.lifecycle.established(peer, null)) {
				throw new VerbsException(VerbsError.CLOSED, this.lifecycle + " was closed or disconnected");
			}
			established = true;
		}
		finally {
			if (!established) {
				closeQuietly(file);
			}
		}
		end();
		if (!this.result.complete(
				new ConnectionInfo(this.local, this.remote, readDepth, responderResources, answer.privateData()))) {
			this.lifecycle.disconnect();
		}
	}

	/** The peer was killed, perhaps; what it has left is removed without haste. */
	private void sweepLater(int port, boolean lastReader) {
		this.thread.execute(() -> {
			this.device.rendezvous().sweep(port);
			if (lastReader) {
				OwnFiles.sweep(this.device.rendezvous());
			}
		});
	}

	private void end() {
		finish();
		this.thread.removeAttempt(this.lifecycle.queuePair());
	}

	@Override
	void timedOut() {
		if (this.socket == null && System.nanoTime() - this.endNanos < 0) {
			try {
				connect();
			}
			catch (IOException | VerbsException ex) {
				failed(ex);
			}
			return;
		}
		failed(new VerbsException(VerbsError.TIMED_OUT, "listener at " + this.remote + " has not answered in "
				+ TimeUnit.NANOSECONDS.toMillis(this.options.timeoutNanos()) + " ms"));
	}

	@Override
	void failed(Throwable cause) {
		if (isFinished()) {
			return;
		}
		end();
		closeQuietly(this.socket);
		this.lifecycle.connectingFailed();
		this.result.completeExceptionally((cause instanceof VerbsException) ? cause : new VerbsException(
				VerbsError.CONNECTION_LOST, "connection to " + this.remote + " failed: " + cause, cause));
	}

}
