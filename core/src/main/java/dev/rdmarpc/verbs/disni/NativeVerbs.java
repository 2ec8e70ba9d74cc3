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

import org.jspecify.annotations.Nullable;

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
	static final int EXTENSION_VERSION = 1;

	private NativeVerbs() {
	}

	// Library and host

	/** The version that the library has. */
	static native int extensionVersion();

	/** Sets the exception to throw. */
	static native void errorType(Class<NativeVerbsException> type);

	/** Lets {@code System.loadLibrary("disni")} find the library in any class loader. */
	static native void exposeAsStaticLibrary() throws IOException;

	/** For instance {@code Connection refused (ECONNREFUSED)}. */
	static native String errorText(int errno);

	/** How much memory the process may lock, in bytes; -1 without limit. */
	static native long lockedMemoryLimit() throws IOException;

	/** The address of a direct buffer's byte 0 (not of its position); 0 if not direct. */
	static native long addressOf(ByteBuffer buffer);

	/**
	 * Closes an event channel, connection id (with its queue pair), queue pair,
	 * protection domain, completion channel, completion queue, memory region, shared
	 * receive queue or memory window. One that others still need stays as it is.
	 */
	static native void close(long handle) throws IOException;

	// Devices

	/** The devices of libibverbs; opens nothing, needs no permission. */
	static native String[] deviceNames() throws IOException;

	/**
	 * The contexts of all devices as librdmacm has opened them; the same handles each
	 * time, valid as long as the process.
	 */
	static native long[] devices() throws IOException;

	/** The name of a context's device. */
	static native String deviceName(long context) throws IOException;

	/** The firmware's version as the device gives it. */
	static native String firmware(long context) throws IOException;

	/** Limits and properties, {@code NativeLayout.DEVICE_*}. */
	static native long[] queryDevice(long context) throws IOException;

	/** State and properties of a port, counted from 1, {@code NativeLayout.PORT_*}. */
	static native long[] queryPort(long context, int port) throws IOException;

	// Events of connections

	/** The file descriptor that is readable when there is an event. */
	static native int eventChannelDescriptor(long channel) throws IOException;

	/** Makes the current or else the next {@link #awaitEvent} return. */
	static native void wakeEventChannel(long channel) throws IOException;

	/**
	 * Takes an event, already acknowledged.
	 * @param event a direct buffer for it, {@code NativeLayout.EVENT_*}
	 * @param timeoutNanos how long to wait; negative for ever
	 * @return 1 for an event, 0 if the time is over, -1 if woken
	 */
	static native int awaitEvent(long channel, ByteBuffer event, long timeoutNanos) throws IOException;

	/** Copies the latest event of a connection id; false if there was none. */
	static native boolean lastEvent(long id, ByteBuffer event) throws IOException;

	// Connections

	/** Sets {@code RDMA_OPTION_ID_REUSEADDR}. */
	static native void reuseAddress(long id) throws IOException;

	/** Sets {@code RDMA_OPTION_ID_AFONLY}: an IPv6 listener takes no IPv4. */
	static native void addressFamilyOnly(long id) throws IOException;

	/** Binds to an address of 4 or 16 bytes. */
	static native void bindAddress(long id, byte[] address, int scopeId, int port) throws IOException;

	/** Resolves an address of 4 or 16 bytes; the outcome is an event. */
	static native void resolveAddress(long id, byte @Nullable [] source, byte[] destination, int scopeId, int port,
			int timeoutMillis) throws IOException;

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
	 * @param sharedReceiveQueue where it receives, or 0 for a receive queue of its own
	 */
	static native long createQueuePair(long id, long protectionDomain, long sendCompletions, long receiveCompletions,
			long sharedReceiveQueue, int maxSends, int maxReceives, int maxSendSegments, int maxReceiveSegments,
			int maxInlineBytes) throws IOException;

	/** State and capacities as granted, {@code NativeLayout.QUEUE_PAIR_*}. */
	static native long[] queryQueuePair(long queuePair) throws IOException;

	/** The device's number of the queue pair. */
	static native int queuePairNumber(long queuePair) throws IOException;

	/** Puts the queue pair into error, which flushes what was posted. */
	static native void failQueuePair(long queuePair) throws IOException;

	/**
	 * Posts the chain of {@code ibv_send_wr} at the address.
	 * @return 0 or an errno; nothing is thrown
	 */
	static native int postSend(long queuePair, long address);

	/**
	 * Posts the chain of {@code ibv_recv_wr} at the address.
	 * @param queue a queue pair or a shared receive queue
	 * @return 0 or an errno; nothing is thrown
	 */
	static native int postReceive(long queue, long address);

	/** Creates a shared receive queue. */
	static native long createSharedReceiveQueue(long protectionDomain, int depth, int maxSegments) throws IOException;

	/** Capacities as granted, {@code NativeLayout.SHARED_*}. */
	static native long[] querySharedReceiveQueue(long sharedReceiveQueue) throws IOException;

	// Completions

	/** Creates a completion queue that notifies a completion channel, or none if 0. */
	static native long createCompletionQueue(long context, long channel, int entries, int vector) throws IOException;

	/** The number of completions it holds, at least what was asked for. */
	static native int completionQueueCapacity(long queue) throws IOException;

	/**
	 * Polls into an array of {@code ibv_wc} at the address.
	 * @return how many there were, or a negative errno; nothing is thrown
	 */
	static native int poll(long queue, int most, long address);

	/**
	 * Arms the notification of a completion queue.
	 * @return 0 or an errno; nothing is thrown
	 */
	static native int requestNotification(long queue, boolean solicitedOnly);

	/** The file descriptor that is readable when a queue has notified. */
	static native int completionChannelDescriptor(long channel) throws IOException;

	/** Makes the current or else the next {@link #awaitCompletion} return. */
	static native void wakeCompletionChannel(long channel) throws IOException;

	/**
	 * Waits for a notification, already acknowledged.
	 * @param timeoutNanos how long to wait; negative for ever
	 * @return the completion queue that notified, 0 if the time is over, -1 if woken
	 */
	static native long awaitCompletion(long channel, long timeoutNanos) throws IOException;

	// Memory

	/** Registers memory; the access flags are those of {@code ibv_access_flags}. */
	static native long registerMemory(long protectionDomain, long address, long lengthBytes, int access)
			throws IOException;

	/** The key by which requests of this process name the region. */
	static native int localKey(long region) throws IOException;

	/** The key by which peers name the region. */
	static native int remoteKey(long region) throws IOException;

	/** Allocates a memory window of type 1 or 2. */
	static native long allocateWindow(long protectionDomain, int type) throws IOException;

	/** The key by which peers name what the window is bound to. */
	static native int windowKey(long window) throws IOException;

	/**
	 * Posts the binding of a window to a part of a region; completes like a send.
	 * @return the key that is valid once the binding has completed
	 */
	static native int bindWindow(long queuePair, long window, long region, long requestId, int sendFlags, long address,
			long lengthBytes, int access) throws IOException;

}
