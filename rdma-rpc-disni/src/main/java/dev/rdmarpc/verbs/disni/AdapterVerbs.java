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
import java.util.List;

import com.ibm.disni.verbs.IbvCQ;
import com.ibm.disni.verbs.IbvCompChannel;
import com.ibm.disni.verbs.IbvPd;
import com.ibm.disni.verbs.IbvQP;

import dev.rdmarpc.verbs.VerbsError;
import dev.rdmarpc.verbs.VerbsException;

/**
 * What the provider needs of the native library beyond DiSNI's stateful verb calls. With
 * this project's library all of it is there ({@link ExtendedVerbs}); with a
 * {@code libdisni} that users built themselves some of it is not ({@link PlainVerbs}),
 * and what is missing shows in the attributes of the adapters.
 *
 * <p>
 * Thread-safe.
 */
interface AdapterVerbs {

	/** The adapters that can carry connections, those whose port is active first. */
	List<Adapter> adapters() throws IOException;

	/** Keeps an adapter open, also when it has gone. Once per user. */
	void hold(Adapter adapter) throws IOException;

	/**
	 * Takes that back.
	 * @param gone whether the adapter has gone, and this is its last user, after whom the
	 * kernel may remove it
	 */
	void release(Adapter adapter, boolean gone) throws IOException;

	/** Opens a connection manager. */
	ConnectionVerbs openConnections() throws IOException;

	/**
	 * Creates a shared receive queue, in the shape in which DiSNI posts to it.
	 * @throws UnsupportedOperationException if
	 * {@link AdapterAttributes#maxSharedReceives()} is 0
	 */
	IbvQP createSharedReceiveQueue(IbvPd domain, int depth, int maxSegments) throws IOException;

	/** Destroys a shared receive queue. */
	void destroySharedReceiveQueue(IbvQP queue) throws IOException;

	/** Moves a queue pair to the error state, where this can be done by itself. */
	void fail(IbvQP queuePair) throws IOException;

	/**
	 * Blocks until a completion queue notifies, {@link #wake} is called, or the time is
	 * over, and perhaps without any reason.
	 * @return whether it notified
	 */
	boolean awaitCompletion(IbvCompChannel channel, IbvCQ queue, long timeoutNanos) throws IOException;

	/**
	 * Makes the current or else the next {@link #awaitCompletion} return, soon if not at
	 * once.
	 */
	void wake(IbvCompChannel channel) throws IOException;

	/** A failed verb in the words of the SPI. */
	static VerbsException failure(String what, IOException ex) {
		return new VerbsException(VerbsError.DEVICE_ERROR, what + ": " + ex.getMessage(), ex);
	}

}
