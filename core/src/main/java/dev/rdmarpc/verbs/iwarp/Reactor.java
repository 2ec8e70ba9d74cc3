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

import java.nio.channels.SelectionKey;
import java.security.SecureRandom;
import java.util.SplittableRandom;
import java.util.function.Consumer;

import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

import dev.rdmarpc.logging.RateLimitedLogger;
import dev.rdmarpc.verbs.iwarp.rdmap.ProtocolViolation;
import dev.rdmarpc.verbs.iwarp.rdmap.StagingMemory;
import dev.rdmarpc.verbs.iwarp.rdmap.StreamBuffers;
import dev.rdmarpc.verbs.iwarp.wire.TerminateError;
import dev.rdmarpc.verbs.support.ProgressEngine;

/**
 * The engine of a completion queue of user-space iWARP. A thread that polls while another
 * awaits reads some connections in turn instead of selecting.
 */
final class Reactor extends ProgressEngine<Connection> {

	/** Up to so many connections are read without asking the selector first. */
	private static final int DIRECT_CONNECTIONS = 8;

	/** Fruitless reads after which a connection is read less often. */
	private static final int IDLE_READS = 256;

	/** An idle connection among several is read once in so many polls. */
	private static final int IDLE_STRIDE = 16;

	/** As many changes of interest as a selector collects before it is asked. */
	private static final int MAX_INTEREST_CHANGES = 256;

	private static final Consumer<SelectionKey> LEAVE_READY = Reactor::leaveReady;

	private final SplittableRandom random;

	private final StreamBuffers buffers;

	private final ReactorDeadlines deadlines = new ReactorDeadlines();

	private final RateLimitedLogger shortages = new RateLimitedLogger(LoggerFactory.getLogger(Reactor.class));

	private int interestChanges;

	private int turn;

	private int polls;

	Reactor(int capacity, StreamBuffers buffers, SecureRandom secureRandom) {
		super(capacity);
		this.buffers = buffers;
		this.random = new SplittableRandom(secureRandom.nextLong());
	}

	@Override
	protected void stepBeforeAwait() {
		super.stepBeforeAwait();
		endDrained();
		this.deadlines.check();
		leaveFailed();
		finishUpkeep();
	}

	/** Notes that a connection waits for the rest of an FPDU. */
	void addFrame(FrameDeadline frame) {
		this.deadlines.add(frame);
		wakeUpIfSelecting();
	}

	@Override
	protected long until(long timeoutNanos) {
		return this.deadlines.until(super.until(timeoutNanos));
	}

	@Override
	protected void advance() {
		this.polls++;
		leaveFailed();
		int count = connections().size();
		if (isSelecting() || count <= DIRECT_CONNECTIONS) {
			advanceDirectly(count);
		}
		else {
			findReady();
			serveReady();
		}
		endDrained();
		this.deadlines.checkNowAndThen(this.polls);
		finishUpkeep();
	}

	private void advanceDirectly(int count) {
		boolean guarded = count > 1;
		int steps = Math.min(count, DIRECT_CONNECTIONS);
		for (int i = 0; i < steps && hasRoom(); i++) {
			int size = connections().size();
			if (size == 0) {
				return;
			}
			this.turn = (this.turn + 1 < size) ? this.turn + 1 : 0;
			Connection connection = connections().get(this.turn);
			if (guarded && connection.idleReads() > IDLE_READS && (this.polls + i) % IDLE_STRIDE != 0) {
				continue;
			}
			connection.lifecycle().advance();
		}
	}

	/** Sees to sockets that have left or changed; what is ready stays so. */
	private void finishUpkeep() {
		if (isUpkeepDue()) {
			selectNow(LEAVE_READY);
		}
	}

	private static void leaveReady(SelectionKey key) {
	}

	@Override
	protected void endSelect() {
		requestUpkeep();
		super.endSelect();
	}

	/**
	 * Notes that a key's interest has changed, so that a blocked selector sees it. A
	 * selector that nobody asks would collect the changes without end.
	 */
	void interestChanged() {
		if (isSelecting()) {
			wakeUpIfSelecting();
		}
		else if (++this.interestChanges % MAX_INTEREST_CHANGES == 0) {
			requestUpkeep();
		}
	}

	/** Takes a stream out of the selector. */
	void unwatch(ByteStream bytes) {
		bytes.unwatch();
		requestUpkeep();
		if (isSelecting()) {
			wakeUpIfSelecting();
		}
		else {
			selectNow(LEAVE_READY);
		}
	}

	StreamBuffers buffers() {
		return this.buffers;
	}

	/**
	 * Allocates memory for what a connection has begun. If there is none, connections end
	 * that have held some for longest: a peer that goes on is not among them for long.
	 * @throws ProtocolViolation if it is the connection itself that ends
	 */
	StagingMemory.Block allocateStaging(int bytes, Connection connection) throws ProtocolViolation {
		while (true) {
			StagingMemory.Block block = this.buffers.staging().tryAllocate(bytes);
			if (block != null) {
				return block;
			}
			Connection eldest = eldestHolder(connection);
			ProtocolViolation violation = ProtocolViolation.ofStream(TerminateError.MPA_LOCAL_CATASTROPHIC,
					"memory for frames that are not complete, " + this.buffers.staging().totalBytes()
							+ " bytes, is used up, and the connection has held some for longest");
			this.shortages.log(Level.WARN, "Ending {}: {}", eldest.lifecycle(), violation.getMessage());
			if (eldest == connection) {
				throw violation;
			}
			eldest.end(violation);
		}
	}

	private Connection eldestHolder(Connection asking) {
		Connection eldest = asking;
		long least = (asking.stream().holdingSince() != 0) ? asking.stream().holdingSince() : Long.MAX_VALUE;
		for (int i = 0; i < connections().size(); i++) {
			Connection candidate = connections().get(i);
			long since = candidate.stream().holdingSince();
			if (since != 0 && since < least) {
				eldest = candidate;
				least = since;
			}
		}
		return eldest;
	}

	SplittableRandom random() {
		return this.random;
	}

	@Override
	protected long copiedBytes() {
		return this.buffers.copiedBytes();
	}

	/** Closes the selector and lets go of the memory; no connection is left. */
	@Override
	protected void close() {
		lock();
		try {
			this.buffers.close();
		}
		finally {
			unlock();
		}
		super.close();
	}

}
