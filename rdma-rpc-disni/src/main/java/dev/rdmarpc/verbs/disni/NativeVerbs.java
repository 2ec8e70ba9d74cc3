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

package dev.rdmarpc.verbs.disni;

import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * What our native library {@code disni} can do beyond what DiSNI asks of it. Objects are
 * named by handles, those that DiSNI's own objects carry: a stale or invented one is
 * refused, and never crashes. Where a method says nothing of errors it throws a
 * {@link NativeVerbsException}.
 *
 * <p>
 * Any thread may call anything. Closing an object waits for the calls under way on it and
 * ends the blocking ones.
 *
 * <p>
 * Usable after {@link NativeLibrary#load()} if {@link NativeLibrary#extended()}.
 */
final class NativeVerbs {

	/** The version of this interface; another one in the library makes it unusable. */
	static final int EXTENSION_VERSION = 3;

	private NativeVerbs() {
	}

	// Library and host

	/** The version that the library has. */
	static native int extensionVersion();

	/** Sets the exception to throw. */
	static native void errorType(Class<NativeVerbsException> type);

	/** Lets {@code System.loadLibrary("disni")} find the library in any class loader. */
	static native void exposeAsStaticLibrary() throws IOException;

	/**
	 * Closes an event channel, connection id (with its queue pair), queue pair,
	 * protection domain, completion channel, completion queue, memory region or shared
	 * receive queue. One that others still need stays as it is.
	 */
	static native void close(long handle) throws IOException;

	// Devices

	/**
	 * The contexts of all devices as librdmacm has opened them; the same handles each
	 * time, valid until the device has gone and was {@linkplain #releaseDevice released}.
	 */
	static native long[] devices() throws IOException;

	/** Keeps a context open, also after its device has gone. Once per user. */
	static native void holdDevice(long context) throws IOException;

	/**
	 * Takes back what {@link #holdDevice} has done.
	 * @param gone whether the device has gone, and this is its last user: nothing of this
	 * process keeps the kernel from removing it any more, and the handle is stale
	 */
	static native void releaseDevice(long context, boolean gone) throws IOException;

	/** The name of a context's device. */
	static native String deviceName(long context) throws IOException;

	/** Limits and properties, {@code NativeLayout.DEVICE_*}. */
	static native long[] queryDevice(long context) throws IOException;

	/** State and properties of a port, counted from 1, {@code NativeLayout.PORT_*}. */
	static native long[] queryPort(long context, int port) throws IOException;

	// Events of connections

	/** Makes the current or else the next {@link #awaitEvent} return. */
	static native void wakeEventChannel(long channel) throws IOException;

	/**
	 * Takes an event, already acknowledged.
	 * @param event a direct buffer for it, {@code NativeLayout.EVENT_*}
	 * @param timeoutNanos how long to wait; negative for ever
	 * @return 1 for an event, 0 if the time is over, -1 if woken
	 */
	static native int awaitEvent(long channel, ByteBuffer event, long timeoutNanos) throws IOException;

	// Connections

	/** Binds to an address of 4 or 16 bytes. */
	static native void bindAddress(long id, byte[] address, int scopeId, int port) throws IOException;

	/** Resolves an address of 4 or 16 bytes; the outcome is an event. */
	static native void resolveAddress(long id, byte[] address, int scopeId, int port, int timeoutMillis)
			throws IOException;

	/** The context of the device that the id is bound to; 0 if it is to none yet. */
	static native long contextOf(long id) throws IOException;

	/**
	 * The local address in network byte order: 4 bytes address and 2 port, or 16 address,
	 * 2 port and 4 scope; empty if there is none yet.
	 */
	static native byte[] localAddress(long id) throws IOException;

	/** The peer's address, see {@link #localAddress}. */
	static native byte[] remoteAddress(long id) throws IOException;

	/** Connects; 255 as a depth asks for the device's maximum. */
	static native void connect(long id, byte[] privateData, int responderResources, int initiatorDepth, int retries,
			int receiverNotReadyRetries) throws IOException;

	/** Accepts; 255 as a depth asks for the device's maximum that the peer can use. */
	static native void accept(long id, byte[] privateData, int responderResources, int initiatorDepth,
			int receiverNotReadyRetries) throws IOException;

	/** Rejects a connection request. */
	static native void reject(long id, byte[] privateData) throws IOException;

	// Queue pairs

	/**
	 * Creates a reliable connected queue pair of a connection id.
	 * @param completions the completion queue of both its queues
	 * @param sharedReceiveQueue where it receives, or 0 for a receive queue of its own
	 */
	static native long createQueuePair(long id, long protectionDomain, long completions, long sharedReceiveQueue,
			int maxSends, int maxReceives, int maxSendSegments, int maxReceiveSegments, int maxInlineBytes)
			throws IOException;

	/** The device's number of the queue pair. */
	static native int queuePairNumber(long queuePair) throws IOException;

	/** Puts the queue pair into error, which flushes what was posted. */
	static native void failQueuePair(long queuePair) throws IOException;

	/** Creates a shared receive queue. */
	static native long createSharedReceiveQueue(long protectionDomain, int depth, int maxSegments) throws IOException;

	// Completions

	/** Makes the current or else the next {@link #awaitCompletion} return. */
	static native void wakeCompletionChannel(long channel) throws IOException;

	/**
	 * Waits for a notification, already acknowledged.
	 * @param timeoutNanos how long to wait; negative for ever
	 * @return the completion queue that notified, 0 if the time is over, -1 if woken
	 */
	static native long awaitCompletion(long channel, long timeoutNanos) throws IOException;

}
