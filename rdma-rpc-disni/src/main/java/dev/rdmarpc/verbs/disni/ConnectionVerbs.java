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
import java.net.InetSocketAddress;

import com.ibm.disni.verbs.IbvCQ;
import com.ibm.disni.verbs.IbvPd;
import com.ibm.disni.verbs.IbvQP;
import org.jspecify.annotations.Nullable;

/**
 * The connection manager as seen by one thread: ids, and the channel on which their
 * events come. What the native library cannot do is left out or done as well as it can
 * be: see {@link PlainConnectionVerbs}.
 *
 * <p>
 * Threading: {@link #wake()}, {@link #destroyQueuePair} and the addresses may be asked
 * for from any thread, everything else belongs to the connection thread.
 */
interface ConnectionVerbs extends AutoCloseable {

	/** Creates an id. */
	long createId() throws IOException;

	/** Destroys an id; a connection it has ends. */
	void closeId(long id) throws IOException;

	void bind(long id, InetSocketAddress address) throws IOException;

	void listen(long id, int backlog) throws IOException;

	void resolveAddress(long id, InetSocketAddress remote, int timeoutMillis) throws IOException;

	void resolveRoute(long id, int timeoutMillis) throws IOException;

	/** The {@linkplain Adapter#handle() adapter} an id is bound to, or 0. */
	long adapterOf(long id) throws IOException;

	InetSocketAddress localAddress(long id) throws IOException;

	InetSocketAddress remoteAddress(long id) throws IOException;

	void connect(long id, ConnectionParameters parameters) throws IOException;

	void accept(long id, ConnectionParameters parameters) throws IOException;

	void reject(long id, byte[] privateData) throws IOException;

	void disconnect(long id) throws IOException;

	/**
	 * Waits for an event.
	 * @param timeoutNanos negative: for ever
	 * @return whether there was one before the time was over or {@link #wake()} called
	 */
	boolean awaitEvent(ConnectionEvent event, long timeoutNanos) throws IOException;

	/** Makes the current or else the next {@link #awaitEvent} return. */
	void wake() throws IOException;

	/** Creates the queue pair of an id. */
	AdapterQueuePair createQueuePair(long id, IbvPd domain, IbvCQ completionQueue, @Nullable IbvQP sharedReceiveQueue,
			QueuePairSize size) throws IOException;

	/** Destroys the queue pair of an id; nothing is placed or sent by it any more. */
	void destroyQueuePair(AdapterQueuePair queuePair) throws IOException;

	/** Closes the channel; all ids are closed already. */
	@Override
	void close() throws IOException;

	/**
	 * What one side brings to the set-up of a connection.
	 *
	 * @param privateData sent along
	 * @param responderResources Reads of the peer served at once
	 * @param initiatorDepth Reads outstanding
	 */
	record ConnectionParameters(byte[] privateData, int responderResources, int initiatorDepth) {

	}

	/**
	 * A queue pair of an adapter.
	 *
	 * @param id the id it was created for
	 * @param verbs what DiSNI posts to
	 * @param number what completions call it
	 */
	record AdapterQueuePair(long id, IbvQP verbs, int number) {

	}

	/** How large a queue pair is. */
	record QueuePairSize(int sends, int receives, int sendSegments, int receiveSegments, int inlineBytes) {

	}

}
