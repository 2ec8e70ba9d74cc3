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

import dev.rdmarpc.verbs.support.ProgressEngine;

/**
 * The engine of a completion queue of shared memory.
 *
 * <p>
 * Implementation notes. Polling looks into the rings and makes no system call, except
 * that every so often it asks the selector whether a peer has died.
 *
 * <p>
 * A thread that awaits has every connection ask its peer to be woken, and after that
 * looks once more for something to do; only then it blocks. A peer publishes before it
 * looks whether it has to wake anybody. On both sides a full fence lies between the two,
 * so one of them sees the other. A peer that wakes takes the request away and writes one
 * byte to the socket, on which the selector of this side returns, or does not block at
 * all.
 */
final class Engine extends ProgressEngine<Connection> {

	/** Up to so many connections are looked at in each poll. */
	private static final int DIRECT_CONNECTIONS = 8;

	/** Fruitless looks after which a connection is looked at less often. */
	private static final int IDLE_LOOKS = 256;

	/**
	 * An idle connection among many is looked at once in so many polls; a power of two.
	 */
	private static final int IDLE_STRIDE = 16;

	/** Fruitless polls between two questions to the selector; a power of two. */
	private static final int IDLE_POLLS = 512;

	/** Polls between two questions to the selector; a power of two. */
	private static final int BUSY_POLLS = 8192;

	private int polls;

	private int idlePolls;

	private int looks;

	/** Whether memory was lost without an error that says so. */
	private boolean faultDue;

	private int turn;

	private long copiedBefore;

	Engine(int capacity) {
		super(capacity);
	}

	@Override
	protected void step(boolean wanting) {
		try {
			super.step(wanting);
		}
		catch (InternalError ex) {
			if (!tryEndCut()) {
				throw ex;
			}
		}
	}

	@Override
	protected void stepBeforeAwait() {
		try {
			super.stepBeforeAwait();
			advanceAll();
		}
		catch (InternalError ex) {
			if (!tryEndCut()) {
				throw ex;
			}
		}
	}

	@Override
	protected void advance() {
		this.polls++;
		int count = connections().size();
		if (count <= DIRECT_CONNECTIONS) {
			for (int i = count - 1; i >= 0; i--) {
				advance(i);
			}
		}
		else {
			advanceMany(count);
		}
		this.idlePolls = hasMoved() ? 0 : this.idlePolls + 1;
		if ((this.idlePolls & IDLE_POLLS - 1) == IDLE_POLLS - 1 || (this.polls & BUSY_POLLS - 1) == 0) {
			lookAtSockets();
		}
		finishStep();
	}

	private void advanceMany(int count) {
		this.turn++;
		for (int i = 0; i < count; i++) {
			int index = (this.turn + i) % count;
			if (index < connections().size()) {
				boolean idle = connections().get(index).idleLooks() > IDLE_LOOKS;
				if (!idle || (this.polls + index & IDLE_STRIDE - 1) == 0) {
					advance(index);
				}
			}
		}
	}

	private void advance(int index) {
		if (index < connections().size()) {
			connections().get(index).lifecycle().advance();
		}
	}

	private void advanceAll() {
		for (int i = connections().size() - 1; i >= 0; i--) {
			advance(i);
		}
		finishStep();
	}

	private void finishStep() {
		leaveFailed();
		endDrained();
		if (isUpkeepDue()) {
			lookAtSockets();
		}
	}

	/**
	 * Ends the connections whose memory is gone, after an error that says that some is.
	 * The virtual machine may throw it later than where the memory was used, even when
	 * the connection has ended.
	 * @return whether there is, or was, one
	 */
	boolean tryEndCut() {
		boolean found = this.faultDue;
		this.faultDue = false;
		for (int i = connections().size() - 1; i >= 0; i--) {
			if (i < connections().size() && connections().get(i).isAnyCut()) {
				found = true;
				connections().get(i).lifecycle().memoryLost();
			}
		}
		return found;
	}

	/** Asks the peers to wake this side. */
	@Override
	protected boolean tryFallAsleep() {
		for (int i = connections().size() - 1; i >= 0; i--) {
			if (i < connections().size() && !connections().get(i).lifecycle().tryFallAsleep()) {
				return false;
			}
		}
		return nothingScheduled();
	}

	/** Sees whether peers have died or woken this side; a system call. */
	private void lookAtSockets() {
		if (isSelecting()) {
			return;
		}
		findReady();
		serveReady();
		int index = Math.floorMod(this.looks++, Math.max(1, connections().size()));
		if (index < connections().size() && connections().get(index).isCut()) {
			connections().get(index).lifecycle().memoryLost();
			expectFault();
		}
	}

	/** Notes that memory is gone, of which an error may still be thrown. */
	void expectFault() {
		this.faultDue = true;
	}

	@Override
	protected void deregister(Connection connection) {
		if (connections().contains(connection)) {
			this.copiedBefore += connection.copiedBytes();
		}
		super.deregister(connection);
		requestUpkeep();
		wakeUpIfSelecting();
	}

	@Override
	protected long copiedBytes() {
		long sum = this.copiedBefore;
		for (Connection connection : connections()) {
			sum += connection.copiedBytes();
		}
		return sum;
	}

	/** Memory mapped for the connections; takes the lock. */
	long mappedBytes() {
		lock();
		try {
			long sum = 0;
			for (Connection connection : connections()) {
				sum += connection.mappedBytes();
			}
			return sum;
		}
		finally {
			unlock();
		}
	}

}
