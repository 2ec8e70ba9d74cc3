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

package dev.rdmarpc.verbs;

import java.net.InetSocketAddress;
import java.util.concurrent.CompletableFuture;

/**
 * An open RDMA device, the root of everything allocated on it.
 */
public interface VerbsDevice extends AutoCloseable {

	/** The provider's name for the device. */
	String name();

	/** What the device can do; constant while it is open. */
	DeviceLimits limits();

	/**
	 * Bytes of messages that the provider has copied from memory to memory since the
	 * device was opened, without the kernel's copies between memory and sockets. 0 if an
	 * adapter moves them.
	 */
	default long copiedBytes() {
		return 0;
	}

	/**
	 * Registrations that this device has made for single Reads, because its protocol
	 * exposes the destination of a Read to the peer. 0 for devices that need none.
	 */
	default long readSinks() {
		return 0;
	}

	/**
	 * Bytes in use for partial frames and for bytes that peers do not take: of the
	 * completion queue that uses most, where each has its own. 0 if an adapter holds
	 * them.
	 */
	default long stagingBytes() {
		return 0;
	}

	/** The maximum of {@link #stagingBytes()}. */
	default long maxStagingBytes() {
		return 0;
	}

	/**
	 * Whether connections can begin and end: the device is open, and the thread that
	 * handles them has not failed. Cheap; never blocks.
	 */
	boolean isRunning();

	/**
	 * Whether connections can be protected with TLS: those of adapters cannot, because
	 * they read and write memory themselves. Listening or connecting with
	 * {@link TlsOptions} fails then with {@link VerbsError#INVALID_ARGUMENT}.
	 */
	default boolean supportsTls() {
		return false;
	}

	/**
	 * Whether it is worthwhile to connect to an address: {@code false} if the device
	 * knows that nobody listens there. May take as long as looking at a file.
	 */
	default boolean mayReach(InetSocketAddress remote) {
		return true;
	}

	/** Allocates a protection domain, owned by the caller. */
	ProtectionDomain allocateProtectionDomain();

	/**
	 * Creates a completion queue.
	 * @param capacity the number of completions it must hold, from 1 to
	 * {@link DeviceLimits#maxCompletionQueueEntries()}; the caller must not let more be
	 * outstanding
	 * @throws VerbsException with {@link VerbsError#INVALID_ARGUMENT} or
	 * {@link VerbsError#LIMIT_EXCEEDED}
	 */
	CompletionQueue createCompletionQueue(int capacity);

	/**
	 * Listens for connections.
	 * @param address the local address; port 0 lets the system choose, see
	 * {@link ConnectionListener#localAddress()}
	 * @param options bounds on half-open and established connections
	 * @param handler called once per request on a thread of the provider; it must not
	 * block
	 * @return the open listener, owned by the caller
	 * @throws VerbsException with {@link VerbsError#ADDRESS_IN_USE} or
	 * {@link VerbsError#ADDRESS_NOT_AVAILABLE}
	 */
	ConnectionListener listen(InetSocketAddress address, ListenOptions options, ConnectionRequestHandler handler);

	/**
	 * Connects a queue pair. On success it is in {@link QueuePairState#READY_TO_SEND}; on
	 * failure it stays in {@link QueuePairState#INITIALIZED} if nothing was consumed and
	 * goes to {@link QueuePairState#ERROR} otherwise.
	 * @param queuePair a queue pair of this device in {@link QueuePairState#INITIALIZED},
	 * with receives posted if the peer speaks first
	 * @param remote the resolved address of the peer
	 * @param options private data, read depths, timeout
	 * @return completed on a thread of the provider, exceptionally with a
	 * {@link VerbsException}: {@link VerbsError#CONNECTION_REFUSED},
	 * {@link VerbsError#CONNECTION_REJECTED}, {@link VerbsError#TIMED_OUT},
	 * {@link VerbsError#UNREACHABLE}, {@link VerbsError#PROTOCOL_ERROR}; cancelling it
	 * abandons the attempt
	 */
	CompletableFuture<ConnectionInfo> connect(QueuePair queuePair, InetSocketAddress remote, ConnectOptions options);

	/**
	 * Closes the device and everything that is still open on it. Idempotent.
	 */
	@Override
	void close();

}
