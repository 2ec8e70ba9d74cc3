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
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import dev.rdmarpc.verbs.ConnectOptions;
import dev.rdmarpc.verbs.ConnectionInfo;
import dev.rdmarpc.verbs.VerbsError;
import dev.rdmarpc.verbs.VerbsException;

/**
 * A connection being set up by this side: address, route, the adapter's queue pair, the
 * peer's answer. Confined to the connection thread.
 */
final class ConnectAttempt implements IdHandler {

	private static final Logger logger = LoggerFactory.getLogger(ConnectAttempt.class);

	private static final int LONGEST_STEP_MILLIS = 60_000;

	/** An iWARP adapter gives up asking before that. */
	private static final long ANSWER_NANOS = TimeUnit.SECONDS.toNanos(30);

	private final DisniConnectionThread thread;

	private final DisniQueuePair queuePair;

	private final InetSocketAddress remote;

	private final ConnectOptions options;

	private final CompletableFuture<ConnectionInfo> result = new CompletableFuture<>();

	private final long deadlineNanos;

	private DisniConnectionThread.@Nullable Deadline deadline;

	private long id;

	private boolean over;

	private boolean answered;

	private ConnectAttempt(DisniConnectionThread thread, DisniQueuePair queuePair, InetSocketAddress remote,
			ConnectOptions options) {
		this.thread = thread;
		this.queuePair = queuePair;
		this.remote = remote;
		this.options = options;
		this.deadlineNanos = System.nanoTime() + options.timeoutNanos();
	}

	/** Begins; from any thread. The queue pair must be fresh. */
	static CompletableFuture<ConnectionInfo> start(DisniConnectionThread thread, DisniQueuePair queuePair,
			InetSocketAddress remote, ConnectOptions options) {
		ConnectAttempt attempt = new ConnectAttempt(thread, queuePair, remote, options);
		queuePair.connection().begin(attempt::abandoned);
		attempt.result.whenComplete((info, failure) -> {
			if (attempt.result.isCancelled()) {
				thread.execute(attempt::cancelled);
			}
		});
		thread.execute(attempt::resolveAddress);
		return attempt.result;
	}

	private void resolveAddress() {
		if (this.over) {
			return;
		}
		if (this.remote.isUnresolved()) {
			fail(new VerbsException(VerbsError.UNREACHABLE, this.remote + " is unresolved"));
			return;
		}
		step(() -> {
			long remaining = this.deadlineNanos - System.nanoTime();
			this.deadline = this.thread.schedule(Math.max(0, remaining), this::timedOut);
			this.id = this.thread.createId(this);
			verbs().resolveAddress(this.id, this.remote, remainingMillis());
		});
	}

	@Override
	public void onEvent(ConnectionEvent event) {
		if (this.over) {
			return;
		}
		switch (event.type()) {
			case ADDRESS_RESOLVED -> step(this::resolveRoute);
			case ROUTE_RESOLVED -> step(this::connect);
			case ESTABLISHED -> step(() -> established(event));
			case ADDRESS_ERROR, ROUTE_ERROR, CONNECT_ERROR, UNREACHABLE, REJECTED, DISCONNECTED, DEVICE_REMOVAL -> {
				this.answered = true;
				fail(ConnectionFailure.of(event, this.remote));
			}
			default -> {
			}
		}
	}

	private void resolveRoute() throws IOException {
		if (verbs().adapterOf(this.id) != this.thread.adapter().handle()) {
			fail(new VerbsException(VerbsError.UNREACHABLE, this.remote + " is not reached through "
					+ this.thread.adapter().name() + " (expected: a device on the route to it)"));
			return;
		}
		verbs().resolveRoute(this.id, remainingMillis());
	}

	private void connect() throws IOException {
		if (this.queuePair.connection().open(this.id)) {
			this.queuePair.connection().asking();
			verbs().connect(this.id, new ConnectionVerbs.ConnectionParameters(this.options.privateData(),
					this.options.responderResources(), this.options.readDepth()));
		}
	}

	private void established(ConnectionEvent event) throws IOException {
		ConnectionInfo info = new ConnectionInfo(verbs().localAddress(this.id), verbs().remoteAddress(this.id),
				lesser(this.options.readDepth(), event.initiatorDepth()),
				lesser(this.options.responderResources(), event.responderResources()),
				this.thread.adapter().attributes().privateDataOf(event));
		if (this.queuePair.connection().established(this.id, null)) {
			end();
			this.result.complete(info);
		}
	}

	/** The lesser of what one wants and the other can, if the adapter tells. */
	static int lesser(int wanted, int possible) {
		return (possible > 0) ? Math.min(wanted, possible) : wanted;
	}

	private void step(Step step) {
		try {
			step.run();
		}
		catch (Throwable ex) {
			this.answered |= ex instanceof IOException;
			fail(ConnectionFailure.of(ex, this.remote));
		}
	}

	private void timedOut() {
		fail(new VerbsException(VerbsError.TIMED_OUT, this.remote + " did not answer in time"));
	}

	private void abandoned() {
		fail(new VerbsException(VerbsError.CLOSED, this.queuePair + " was closed or disconnected while connecting"));
	}

	private void cancelled() {
		fail(new VerbsException(VerbsError.CLOSED, "cancelled"));
	}

	private void fail(VerbsException failure) {
		if (this.over) {
			return;
		}
		end();
		ConnectionVerbs.AdapterQueuePair left = this.queuePair.connection().attemptFailed(this.answered);
		if (left != null) {
			closeWhenAnswered(left);
		}
		else if (this.id != 0) {
			this.thread.closeId(this.id);
		}
		this.result.completeExceptionally(failure);
	}

	/** Destroying now would block until there is an answer. */
	private void closeWhenAnswered(ConnectionVerbs.AdapterQueuePair left) {
		Runnable close = () -> {
			try {
				verbs().destroyQueuePair(left);
			}
			catch (IOException ex) {
				logger.debug("Queue pair was destroyed already", ex);
			}
			this.thread.closeId(this.id);
		};
		DisniConnectionThread.Deadline noAnswer = this.thread.schedule(ANSWER_NANOS, close);
		this.thread.handle(this.id, (event) -> {
			noAnswer.cancel();
			close.run();
		});
	}

	private void end() {
		this.over = true;
		if (this.deadline != null) {
			this.deadline.cancel();
		}
	}

	private int remainingMillis() {
		long millis = TimeUnit.NANOSECONDS.toMillis(this.deadlineNanos - System.nanoTime());
		return (int) Math.max(1, Math.min(LONGEST_STEP_MILLIS, millis));
	}

	private ConnectionVerbs verbs() {
		return this.thread.verbs();
	}

	/** One step of the way. */
	@FunctionalInterface
	private interface Step {

		void run() throws IOException;

	}

}
