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
import java.nio.ByteBuffer;
import java.util.Objects;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.verbs.QueuePairFault;
import dev.rdmarpc.verbs.QueuePairFault.Origin;
import dev.rdmarpc.verbs.WorkStatus;
import dev.rdmarpc.verbs.iwarp.rdmap.ConnectionParameters;
import dev.rdmarpc.verbs.iwarp.rdmap.PeerAccess;
import dev.rdmarpc.verbs.iwarp.rdmap.ProtocolViolation;
import dev.rdmarpc.verbs.iwarp.rdmap.RdmapStream;
import dev.rdmarpc.verbs.iwarp.rdmap.SendQueue;
import dev.rdmarpc.verbs.iwarp.rdmap.StagingMemory;
import dev.rdmarpc.verbs.iwarp.rdmap.StreamOwner;
import dev.rdmarpc.verbs.support.QueuePairLifecycle;
import dev.rdmarpc.verbs.support.ReceiveSource;
import dev.rdmarpc.verbs.support.WorkReporter;

/** The life of a queue pair of user-space iWARP, and the owner of its stream. */
final class ConnectionLifecycle extends QueuePairLifecycle<Connection> implements StreamOwner {

	private final PeerAccess access;

	private final Reactor reactor;

	private final SendQueue sendQueue;

	private final ReceiveSource receives;

	private final ConnectionThread thread;

	private final IwarpOptions options;

	ConnectionLifecycle(PeerAccess access, IwarpCompletionQueue completionQueue, SendQueue sendQueue,
			ReceiveSource receives, WorkReporter reporter, ConnectionThread thread, IwarpOptions options) {
		super(access.queuePair(), completionQueue, sendQueue, reporter, options.drainTimeout());
		this.access = access;
		this.reactor = completionQueue.engine();
		this.sendQueue = sendQueue;
		this.receives = receives;
		this.thread = thread;
		this.options = options;
	}

	@Override
	public StagingMemory.Block allocateStaging(int bytes) throws ProtocolViolation {
		return this.reactor.allocateStaging(bytes, Objects.requireNonNull(connection()));
	}

	@Override
	protected void move(Connection current, boolean receive) {
		if (receive || current.isStalled()) {
			current.advance();
		}
		else {
			current.flush();
		}
		if (connection() == current) {
			this.sendQueue.written(current.stream().writtenBytes());
		}
	}

	@Override
	protected void cannotExecute(Connection current, WorkStatus status) {
		current.terminate(ProtocolViolation.ofLocal(status, "work request cannot be executed"));
	}

	@Override
	public void terminated(WorkStatus status, long failedSequence, String detail) {
		this.sendQueue.failAt(failedSequence, status);
		enterError(new QueuePairFault(status, Origin.REMOTE, detail), null);
	}

	/** The socket has failed, or memory went away in the middle of being sent. */
	void lost(IOException ex, boolean memoryLost) {
		lost(memoryLost ? WorkStatus.LOCAL_PROTECTION_ERROR : WorkStatus.CONNECTION_LOST,
				String.valueOf(ex.getMessage()));
	}

	@Override
	protected void leave(Connection current) {
		this.sendQueue.written(current.stream().writtenBytes());
		current.close();
	}

	/** Sees the socket of a connection that was left out. */
	void linger(ByteStream bytes, ByteBuffer lastWords) {
		this.thread.linger(bytes, lastWords);
	}

	/**
	 * Takes over an established connection.
	 * @param ended run once when it is over
	 * @return false if the queue pair was disconnected or closed meanwhile
	 */
	boolean established(ByteStream bytes, ConnectionParameters parameters, @Nullable Runnable ended)
			throws IOException {
		return established(() -> newConnection(bytes, parameters), ended);
	}

	/** Makes a connection of a stream of bytes; the caller holds the lock. */
	Connection newConnection(ByteStream bytes, ConnectionParameters parameters) {
		RdmapStream stream = new RdmapStream(bytes, parameters, this.reactor.buffers(), this.reactor.random(),
				this.access, this.sendQueue, this.receives, this);
		return new Connection(this, this.reactor, bytes, stream, this.options.frameTimeout());
	}

}
