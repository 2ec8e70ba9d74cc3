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

package dev.rdmarpc.grpc;

import java.util.ArrayDeque;
import java.util.Queue;

import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

import dev.rdmarpc.logging.RateLimitedLogger;
import dev.rdmarpc.transport.ChannelLoop;
import dev.rdmarpc.transport.LinkableTask;
import dev.rdmarpc.transport.RdmaTransport;
import dev.rdmarpc.transport.UserTask;

/**
 * Runs the tasks of one stream, or of one connection, one after the other: what gRPC
 * calls the transport thread. None runs under the loop's driver role.
 *
 * <p>
 * Implementation notes. The lock guards the queue and who works on it; no task runs under
 * it. Whoever finds nobody working runs the tasks until none is left. What a driver adds
 * waits for the end of its turn: the object is then scheduled, once, and what others add
 * meanwhile waits with it, so that the order is that of adding.
 */
final class SerialTasks extends LinkableTask implements UserTask {

	private static final RateLimitedLogger failures = new RateLimitedLogger(LoggerFactory.getLogger(SerialTasks.class));

	private final RdmaTransport transport;

	private final ChannelLoop loop;

	private @Nullable Runnable first;

	private @Nullable Queue<Runnable> others;

	private boolean busy;

	SerialTasks(RdmaTransport transport, ChannelLoop loop) {
		this.transport = transport;
		this.loop = loop;
	}

	/** Runs a task here, or leaves it to the thread that is at work. Not the driver. */
	void execute(Runnable task) {
		synchronized (this) {
			if (this.busy) {
				add(task);
				return;
			}
			this.busy = true;
		}
		run(task);
		run();
	}

	/**
	 * Runs a task after the turn; driver. Does not run it if this throws, as it may where
	 * there is no memory for the queue.
	 */
	void executeAfterTurn(Runnable task) {
		synchronized (this) {
			add(task);
			if (this.busy) {
				return;
			}
			this.busy = true;
		}
		this.loop.afterTurn(this);
	}

	/** Runs a task on a thread that may wait, in the order of adding. Not the driver. */
	void executeElsewhere(Runnable task) {
		synchronized (this) {
			add(task);
			if (this.busy) {
				return;
			}
			this.busy = true;
		}
		runElsewhere();
	}

	private void add(Runnable task) {
		if (this.first == null) {
			this.first = task;
			return;
		}
		Queue<Runnable> waiting = this.others;
		if (waiting == null) {
			waiting = new ArrayDeque<>();
			this.others = waiting;
		}
		waiting.add(task);
	}

	private synchronized @Nullable Runnable next() {
		Runnable next = this.first;
		Queue<Runnable> waiting = this.others;
		this.first = (waiting != null) ? waiting.poll() : null;
		if (next == null) {
			this.busy = false;
		}
		return next;
	}

	@Override
	public void run() {
		for (Runnable task = next(); task != null; task = next()) {
			run(task);
		}
	}

	private void run(Runnable task) {
		try {
			task.run();
		}
		catch (Throwable ex) {
			// needs no memory to be called, and does not throw
			failures.log(Level.WARN, "A step of a gRPC call on {} has failed", this.loop.name(), ex);
		}
	}

	@Override
	public void runElsewhere() {
		this.transport.runCallback(this);
	}

}
