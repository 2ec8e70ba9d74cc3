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

package dev.rdmarpc.rpc;

import java.net.InetSocketAddress;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import dev.rdmarpc.transport.ChannelHandler;
import dev.rdmarpc.transport.ChannelLoop;
import dev.rdmarpc.transport.IncomingMessage;
import dev.rdmarpc.transport.RdmaTransport;
import dev.rdmarpc.transport.RpcChannel;

/**
 * Keeps one channel to a target: connects on first use, again after a loss, with pauses
 * that grow from failure to failure.
 *
 * <p>
 * Implementation notes. State is guarded by {@code this}; the open channel is also
 * published in a volatile field, which is all that a call normally reads. Callbacks of
 * the channel come from the loop's driver and take the lock too. Whoever holds it neither
 * waits for the driver nor becomes it, nor completes a future, since both run code of
 * others: connecting and completing happen after it is released. A channel that is
 * neither {@code open} nor {@code connecting} has been replaced and is not listened to.
 *
 * <p>
 * A call without a connection waits for {@code upcoming}: the outcome of an attempt that
 * begins after the call came, or the success of one that is under way. So it does not
 * fail while the target can be reached, however long that could not be before. When an
 * attempt begins, those who wait for it are in {@code attempt}. A pause that somebody
 * waits for is cut short; the timer of the longer one then finds that its time has not
 * come or that there is no pause any more.
 *
 * <p>
 * An attempt ends by itself, at the latest when the time for the handshake is over. That
 * time begins when the address is known, for asking for it may take as long as it likes.
 * Where there was no memory to tell of the end, the next call finds the attempt overdue
 * and ends it.
 */
final class ClientConnection implements ChannelHandler {

	private static final Logger logger = LoggerFactory.getLogger(ClientConnection.class);

	/** The longest pause that a call waits for. */
	private static final long LONGEST_WAIT_NANOS = 250_000_000;

	/** After how many times its time-out an attempt is overdue. */
	private static final int OVERDUE_FACTOR = 2;

	private final RdmaTransport transport;

	private final ChannelLoop loop;

	private final String target;

	private final AddressLookup lookup;

	private final String codec;

	private final RpcClientOptions options;

	private final ScheduledExecutorService timer;

	private final PoolCounters counters;

	private final ClientMethods methods;

	private volatile @Nullable SchemaAgreement agreement;

	private @Nullable RpcChannel counted;

	private volatile @Nullable RpcChannel open;

	private volatile ConnectionState state = ConnectionState.IDLE;

	private @Nullable RpcChannel connecting;

	private CompletableFuture<RpcChannel> attempt = new CompletableFuture<>();

	private CompletableFuture<RpcChannel> upcoming = new CompletableFuture<>();

	private CompletableFuture<RpcChannel> ready = new CompletableFuture<>();

	private boolean awaited;

	private long attemptNanos;

	private boolean resolving;

	private boolean unauthenticated;

	private long resolvedNanos;

	private long pausedNanos;

	private long dueNanos;

	private volatile String closeReason = "the client is closed";

	private int failures;

	private volatile String lastFailure = "";

	/** Until when the peer may be restarting; the time of creation means it is not. */
	private volatile long restartingUntilNanos = System.nanoTime();

	private volatile long lastUsedNanos = System.nanoTime();

	ClientConnection(RdmaTransport transport, ChannelLoop loop, String target, Supplier<InetSocketAddress> addresses,
			String codec, RpcClientOptions options, ScheduledExecutorService timer, PoolCounters counters,
			ClientMethods methods) {
		this.transport = transport;
		this.loop = loop;
		this.target = target;
		this.lookup = new AddressLookup(transport, target, addresses);
		this.codec = codec;
		this.options = options;
		this.timer = timer;
		this.counters = counters;
		this.methods = methods;
	}

	/** The channel if it is open, else {@code null}. */
	@Nullable RpcChannel openChannel() {
		RpcChannel channel = this.open;
		return (channel != null && channel.isOpen()) ? channel : null;
	}

	/** A call has taken the channel. */
	void used(long nowNanos) {
		this.lastUsedNanos = nowNanos;
	}

	/** Whether no call is outstanding and none was begun since then. */
	boolean isIdleSince(long nanos) {
		RpcChannel channel = openChannel();
		return (channel == null || channel.outstandingCalls() == 0) && this.lastUsedNanos - nanos < 0;
	}

	/** Calls outstanding, as far as one can tell. */
	int outstandingCalls() {
		RpcChannel channel = openChannel();
		return (channel != null) ? channel.outstandingCalls() : 0;
	}

	/** The loop of its channels. */
	ChannelLoop loop() {
		return this.loop;
	}

	ConnectionState state() {
		return this.state;
	}

	String lastFailure() {
		return this.lastFailure;
	}

	String target() {
		return this.target;
	}

	/** How long the peer may still be restarting, or something negative. */
	long restartingNanos() {
		return this.restartingUntilNanos - System.nanoTime();
	}

	/**
	 * An open channel, soon.
	 * @param waitForReady whether to wait for one more attempt when one has failed
	 * @return completed on any thread, exceptionally with an {@link RpcException} that
	 * names no method yet
	 */
	CompletableFuture<RpcChannel> channel(boolean waitForReady) {
		endOverdueAttempt();
		RpcChannel next = null;
		CompletableFuture<RpcChannel> soon;
		synchronized (this) {
			RpcChannel channel = openChannel();
			if (channel != null) {
				return CompletableFuture.completedFuture(channel);
			}
			if (this.state == ConnectionState.CLOSED) {
				return CompletableFuture.failedFuture(closed());
			}
			this.awaited = true;
			soon = waitForReady ? this.ready : this.upcoming;
			if (this.state == ConnectionState.IDLE) {
				next = beginAttempt();
			}
			else if (this.state == ConnectionState.READY) {
				next = lost("it is closed");
			}
			if (this.state == ConnectionState.BACKOFF) {
				long soonest = this.pausedNanos + LONGEST_WAIT_NANOS;
				next = attemptAt((this.dueNanos - soonest < 0) ? this.dueNanos : soonest);
			}
		}
		goOn(next);
		return soon;
	}

	private void endOverdueAttempt() {
		RpcChannel overdue = (this.state == ConnectionState.CONNECTING) ? overdueAttempt() : null;
		if (overdue != null) {
			String reason = "nothing was heard of the attempt to connect";
			try {
				overdue.close(reason);
			}
			finally {
				ended(overdue, reason);
			}
		}
	}

	private synchronized @Nullable RpcChannel overdueAttempt() {
		long most = OVERDUE_FACTOR * this.options.channel().handshakeTimeoutNanos();
		return (!this.resolving && System.nanoTime() - this.resolvedNanos > most) ? this.connecting : null;
	}

	/**
	 * What a call that gets no connection is told of the pause between attempts, or
	 * nothing when there is none.
	 * @param sinceNanos when it began to wait
	 */
	synchronized String pauseSince(long sinceNanos) {
		if (this.state != ConnectionState.BACKOFF) {
			return "";
		}
		long left = Math.max(0, this.dueNanos - System.nanoTime());
		boolean untried = sinceNanos != Long.MIN_VALUE && this.attemptNanos - sinceNanos < 0;
		return (untried ? " (no attempt meanwhile, the next in " : " (next attempt in ")
				+ TimeUnit.NANOSECONDS.toMillis(left) + " ms)";
	}

	private RpcException closed() {
		return RpcException.madeElsewhere(RpcStatus.UNAVAILABLE, this.closeReason, null, null);
	}

	private RpcException unavailable() {
		return RpcException.madeElsewhere(this.unauthenticated ? RpcStatus.UNAUTHENTICATED : RpcStatus.UNAVAILABLE,
				"no connection to " + target() + ": " + this.lastFailure + pauseSince(Long.MIN_VALUE), null, null);
	}

	/** Makes the channel of a new attempt, to be connected once the lock is released. */
	private RpcChannel beginAttempt() {
		RpcChannel channel = this.transport.newChannel(this.loop, this.options.channel(), this);
		CompletableFuture<RpcChannel> next = new CompletableFuture<>();
		this.state = ConnectionState.CONNECTING;
		this.attempt = this.upcoming;
		this.upcoming = next;
		this.awaited = false;
		this.attemptNanos = System.nanoTime();
		this.resolving = true;
		this.unauthenticated = false;
		this.connecting = channel;
		return channel;
	}

	/**
	 * Begins the next attempt if its time has come, or sees to it that it comes.
	 * @return what to connect once the lock is released
	 */
	private @Nullable RpcChannel attemptAt(long nanos) {
		long now = System.nanoTime();
		if (nanos - now <= 0) {
			return beginAttempt();
		}
		if (this.state != ConnectionState.BACKOFF || nanos - this.dueNanos < 0) {
			this.state = ConnectionState.BACKOFF;
			this.dueNanos = nanos;
			try {
				this.timer.schedule(this::reconnect, nanos - now, TimeUnit.NANOSECONDS);
			}
			catch (RejectedExecutionException ex) {
				this.closeReason = "the transport is closed";
				this.state = ConnectionState.CLOSED;
			}
		}
		return null;
	}

	/** What follows a change of state when the lock is released. */
	private void goOn(@Nullable RpcChannel next) {
		if (next != null) {
			this.lookup.connect(next, this::resolved);
		}
		else if (this.state == ConnectionState.CLOSED) {
			failAll();
		}
	}

	/** The address of an attempt is known, or will never be. */
	private synchronized void resolved(RpcChannel channel) {
		if (channel == this.connecting) {
			this.resolving = false;
			this.resolvedNanos = System.nanoTime();
		}
	}

	/** The pause is over, unless another attempt was made meanwhile. */
	private void reconnect() {
		RpcChannel next = null;
		synchronized (this) {
			if (this.state == ConnectionState.BACKOFF && this.dueNanos - System.nanoTime() <= 0) {
				next = beginAttempt();
			}
		}
		goOn(next);
	}

	@Override
	public String codec() {
		return this.codec;
	}

	@Override
	public void onOpen(RpcChannel channel) {
		SchemaAgreement asking = new SchemaAgreement(channel, this.methods,
				this.options.channel().handshakeTimeoutNanos(), () -> onAgreed(channel));
		synchronized (this) {
			if (channel == this.connecting && this.state == ConnectionState.CONNECTING) {
				this.agreement = asking;
			}
		}
		asking.goOn();
	}

	/**
	 * There are methods that the peer was not asked about: calls wait until it was.
	 * Outstanding ones go on.
	 */
	void agree() {
		RpcChannel channel;
		SchemaAgreement asking;
		synchronized (this) {
			channel = this.open;
			asking = this.agreement;
			if (this.state != ConnectionState.READY || channel == null || asking == null || asking.isComplete()) {
				return;
			}
			this.open = null;
			this.connecting = channel;
			this.state = ConnectionState.CONNECTING;
			this.attempt = this.upcoming;
			this.upcoming = new CompletableFuture<>();
			this.resolving = false;
			this.resolvedNanos = System.nanoTime();
		}
		channel.loop().execute(asking::goOn);
	}

	/**
	 * Refuses a call that the peer would misunderstand.
	 * @throws RpcException with {@link RpcStatus#FAILED_PRECONDITION}
	 */
	void check(MethodDescriptor method) {
		SchemaAgreement known = this.agreement;
		if (known != null) {
			known.check(method);
		}
	}

	/** A call was answered. */
	void answered(int status) {
		this.counters.watch.answered(status);
	}

	/** All is known of the peer that was to be known. */
	private void onAgreed(RpcChannel channel) {
		CompletableFuture<RpcChannel> attempted;
		CompletableFuture<RpcChannel> expected;
		CompletableFuture<RpcChannel> wanted;
		synchronized (this) {
			if (channel != this.connecting || this.state != ConnectionState.CONNECTING) {
				if (channel != this.open) {
					dismiss(channel, "not needed any more");
				}
				return;
			}
			SchemaAgreement known = this.agreement;
			if (known != null && !known.isComplete()) {
				channel.loop().execute(known::goOn);
				return;
			}
			if (this.failures > 0) {
				logger.info("Connected to {} after {} failures", target(), this.failures);
			}
			this.failures = 0;
			this.lastFailure = "";
			this.connecting = null;
			this.open = channel;
			this.state = ConnectionState.READY;
			if (channel != this.counted) {
				this.counters.connects.increment();
				this.counted = channel;
			}
			attempted = this.attempt;
			expected = this.upcoming;
			this.upcoming = new CompletableFuture<>();
			wanted = this.ready;
			this.ready = new CompletableFuture<>();
		}
		attempted.complete(channel);
		expected.complete(channel);
		wanted.complete(channel);
	}

	private static void dismiss(RpcChannel channel, String why) {
		if (channel.outstandingCalls() > 0) {
			channel.drain();
		}
		else {
			channel.close(why);
		}
	}

	@Override
	public synchronized void onUnauthenticated(RpcChannel channel) {
		this.unauthenticated |= channel == this.connecting;
	}

	@Override
	public void onGoodbye(RpcChannel channel) {
		ended(channel, "the peer is shutting down");
	}

	@Override
	public void onClosed(RpcChannel channel, String reason) {
		ended(channel, reason);
	}

	private void ended(RpcChannel channel, String reason) {
		CompletableFuture<RpcChannel> failed = null;
		RpcChannel next;
		synchronized (this) {
			if (this.state == ConnectionState.CLOSED) {
				return;
			}
			if (channel == this.open) {
				next = lost(reason);
			}
			else if (channel == this.connecting) {
				if (this.failures == 0) {
					logger.warn("No connection to {}: {}", target(), reason);
				}
				this.connecting = null;
				this.lastFailure = reason;
				failed = this.attempt;
				next = pause();
			}
			else {
				return;
			}
		}
		if (failed != null) {
			failed.completeExceptionally(unavailable());
		}
		goOn(next);
	}

	/**
	 * The open channel has gone. Its successor is connected at once, unless that would be
	 * the second attempt within the first pause.
	 */
	private @Nullable RpcChannel lost(String reason) {
		this.restartingUntilNanos = System.nanoTime() + this.options.restartTimeout().toNanos();
		logger.info("Connection to {} lost: {}", target(), reason);
		this.counters.lost();
		this.open = null;
		this.lastFailure = reason;
		this.pausedNanos = System.nanoTime();
		return attemptAt(this.attemptNanos + jittered(this.options.initialBackoff().toNanos()));
	}

	/** An attempt has failed. */
	private @Nullable RpcChannel pause() {
		long initial = this.options.initialBackoff().toNanos();
		long max = this.options.maxBackoff().toNanos();
		int doublings = Math.min(this.failures, Long.numberOfLeadingZeros(initial) - 1);
		long nanos = jittered(Math.min(max, initial << doublings));
		this.failures++;
		this.counters.watch.unreachable();
		this.pausedNanos = System.nanoTime();
		return attemptAt(this.pausedNanos + (this.awaited ? Math.min(nanos, LONGEST_WAIT_NANOS) : nanos));
	}

	private static long jittered(long nanos) {
		return nanos / 2 + ThreadLocalRandom.current().nextLong(nanos / 2 + 1);
	}

	@Override
	public void onRequest(RpcChannel channel, IncomingMessage request) {
		channel.close("a request from the side that serves");
	}

	@Override
	public void onUnreadableRequest(RpcChannel channel, int requestId, String detail) {
		channel.close("a request from the side that serves");
	}

	@Override
	public void onCancel(RpcChannel channel, int requestId) {
		// nothing is executed here for the peer
	}

	/** Says goodbye; outstanding calls are finished. */
	void close() {
		RpcChannel current;
		RpcChannel pending;
		synchronized (this) {
			current = this.open;
			pending = this.connecting;
			this.open = null;
			this.connecting = null;
			this.state = ConnectionState.CLOSED;
		}
		failAll();
		if (current != null) {
			current.drain();
		}
		if (pending != null) {
			dismiss(pending, "the client is closed");
		}
	}

	/** Nobody will connect any more. */
	private void failAll() {
		List<CompletableFuture<RpcChannel>> all;
		synchronized (this) {
			all = List.of(this.attempt, this.upcoming, this.ready);
		}
		all.forEach((waiting) -> waiting.completeExceptionally(closed()));
	}

}
