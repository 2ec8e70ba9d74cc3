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

import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import dev.rdmarpc.transport.ChannelHandler;
import dev.rdmarpc.transport.ChannelState;
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
 * An attempt tries the rails of the client one after the other, best first. On a rail
 * that is not the best, better ones are tried now and then; when one works, new calls go
 * over it and the channel before is closed when its calls are over.
 *
 * <p>
 * An attempt ends by itself, at the latest when the time for the handshake is over, which
 * does not count while the address is asked for. Where there was no memory to begin it or
 * to tell of its end, the next call finds the attempt overdue and ends it.
 */
final class ClientConnection implements CallingSide, ConnectAttempt.Owner {

	private static final Logger logger = LoggerFactory.getLogger(ClientConnection.class);

	private final AttemptContext context;

	private final String codec;

	private final RpcClientOptions options;

	private final PoolCounters counters;

	private final ClientMethods methods;

	private final BetterRail better;

	private volatile @Nullable SchemaAgreement agreement;

	private @Nullable RpcChannel counted;

	private volatile @Nullable RpcChannel open;

	private volatile ConnectionState state = ConnectionState.IDLE;

	private @Nullable ConnectAttempt connecting;

	private final AwaitedChannels waits = new AwaitedChannels();

	private final AttemptPauses pauses;

	private final AttemptLimit limit;

	private boolean unauthenticated;

	private volatile String closeReason = "the client is closed";

	private volatile String lastFailure = "";

	/** Until when the peer may be restarting; the time of creation means it is not. */
	private volatile long restartingUntilNanos = System.nanoTime();

	private volatile long lastUsedNanos = System.nanoTime();

	/**
	 * Creates a connection, which is not connected.
	 * @param context makes what the attempts have in common, from the handler of channels
	 */
	ClientConnection(Function<ChannelHandler, AttemptContext> context, String codec, PoolCounters counters,
			ClientMethods methods) {
		this.context = context.apply(this);
		this.codec = codec;
		this.options = this.context.options();
		this.pauses = new AttemptPauses(this.options);
		this.limit = new AttemptLimit(this.options);
		this.counters = counters;
		this.methods = methods;
		this.better = new BetterRail(this.context, this, this::tryBetterRail);
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

	/** The name of the rail it is on, or {@code null} if it is not connected. */
	@Nullable String rail() {
		RpcChannel channel = openChannel();
		return (channel != null) ? channel.loop().rail() : null;
	}

	ConnectionState state() {
		return this.state;
	}

	String lastFailure() {
		return this.lastFailure;
	}

	String target() {
		return this.context.target();
	}

	/** How long the peer may still be restarting, also if that is unheard of here. */
	long restartingNanos() {
		RpcChannel channel = (this.state == ConnectionState.READY) ? this.open : null;
		return (channel != null && !channel.isOpen()) ? this.options.restartTimeout().toNanos()
				: this.restartingUntilNanos - System.nanoTime();
	}

	/**
	 * An open channel, soon.
	 * @param waitForReady whether to wait for one more attempt when one has failed
	 * @return completed on any thread, exceptionally with an {@link RpcException} that
	 * names no method yet
	 */
	CompletableFuture<RpcChannel> channel(boolean waitForReady) {
		endOverdueAttempt();
		ConnectAttempt next = null;
		AwaitedChannel soon;
		synchronized (this) {
			RpcChannel channel = openChannel();
			if (channel != null) {
				return CompletableFuture.completedFuture(channel);
			}
			if (this.state == ConnectionState.CLOSED) {
				return CompletableFuture.failedFuture(closed());
			}
			soon = this.waits.soon(waitForReady);
			if (this.state == ConnectionState.IDLE) {
				next = beginAttempt();
			}
			else if (this.state == ConnectionState.READY) {
				RpcChannel before = Objects.requireNonNull(this.open);
				next = lost(String.valueOf(before.refusal()), before.state() == ChannelState.DRAINING);
			}
			if (this.state == ConnectionState.BACKOFF) {
				next = attemptAt(this.pauses.cutShort());
			}
		}
		goOn(next);
		return soon.waiter();
	}

	private void endOverdueAttempt() {
		ConnectAttempt overdue;
		synchronized (this) {
			overdue = (this.state == ConnectionState.CONNECTING && this.limit.isOver()) ? this.connecting : null;
		}
		if (overdue != null) {
			String reason = "nothing was heard of the attempt to connect";
			RpcChannel channel = overdue.channel();
			try {
				if (channel != null) {
					channel.close(reason);
				}
			}
			finally {
				failed(overdue, reason);
			}
		}
	}

	/**
	 * What a call that gets no connection is told of the pause between attempts, or
	 * nothing when there is none.
	 * @param sinceNanos when it began to wait
	 */
	synchronized String pauseSince(long sinceNanos) {
		return (this.state == ConnectionState.BACKOFF) ? this.pauses.describe(sinceNanos) : "";
	}

	private RpcException closed() {
		return RpcException.madeElsewhere(RpcStatus.UNAVAILABLE, this.closeReason, null, null);
	}

	private RpcException unavailable() {
		return RpcException.madeElsewhere(this.unauthenticated ? RpcStatus.UNAUTHENTICATED : RpcStatus.UNAVAILABLE,
				"no connection to " + target() + ": " + this.lastFailure + pauseSince(Long.MIN_VALUE), null, null);
	}

	/** Makes a new attempt, to be started once the lock is released. */
	private ConnectAttempt beginAttempt() {
		ConnectAttempt begun = new ConnectAttempt(this.context, this, this.context.history().order(), false);
		this.waits.begin();
		this.state = ConnectionState.CONNECTING;
		this.pauses.begun();
		this.limit.begin();
		this.unauthenticated = false;
		this.connecting = begun;
		return begun;
	}

	/**
	 * Begins the next attempt if its time has come, or sees to it that it comes.
	 * @return what to start once the lock is released
	 */
	private @Nullable ConnectAttempt attemptAt(long nanos) {
		long now = System.nanoTime();
		if (nanos - now <= 0) {
			return beginAttempt();
		}
		if (this.state != ConnectionState.BACKOFF || this.pauses.endsAfter(nanos)) {
			this.state = ConnectionState.BACKOFF;
			this.pauses.until(nanos);
			try {
				this.context.transport().timer().schedule(this::reconnect, nanos - now, TimeUnit.NANOSECONDS);
			}
			catch (RejectedExecutionException ex) {
				this.closeReason = "the transport is closed";
				this.state = ConnectionState.CLOSED;
			}
		}
		return null;
	}

	/** What follows a change of state when the lock is released. */
	private void goOn(@Nullable ConnectAttempt next) {
		if (next != null) {
			next.start();
		}
		else if (this.state == ConnectionState.CLOSED) {
			failAll();
		}
	}

	@Override
	public synchronized void resolving(ConnectAttempt asking, boolean still) {
		if (asking == this.connecting) {
			this.limit.suspend(still);
		}
	}

	@Override
	public synchronized void abandoned(ConnectAttempt abandoned) {
		if (abandoned == this.connecting) {
			this.limit.end();
		}
		else if (this.better.is(abandoned)) {
			this.better.ended(this.open);
		}
	}

	@Override
	public boolean begins(ConnectAttempt begun, RpcChannel channel) {
		synchronized (this) {
			if (begun == this.connecting || this.better.is(begun)) {
				begun.channel(channel);
				return true;
			}
		}
		channel.close("not needed any more");
		return false;
	}

	@Override
	public synchronized boolean mayGoOn(ConnectAttempt trying, String reason) {
		if (trying == this.connecting) {
			this.limit.begin();
		}
		return (trying == this.connecting || this.better.is(trying)) && trying.failed(reason);
	}

	/** The pause is over, unless another attempt was made meanwhile. */
	private void reconnect() {
		ConnectAttempt next = null;
		synchronized (this) {
			if (this.state == ConnectionState.BACKOFF && this.pauses.isOver()) {
				next = beginAttempt();
			}
		}
		goOn(next);
	}

	private void tryBetterRail() {
		ConnectAttempt next;
		synchronized (this) {
			next = this.better.begin((this.state == ConnectionState.READY) ? openChannel() : null);
		}
		goOn(next);
	}

	private boolean isConnecting(RpcChannel channel) {
		return this.connecting != null && this.connecting.isOf(channel);
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
			if (isConnecting(channel)) {
				this.agreement = asking;
			}
			else if (this.better.isOf(channel)) {
				this.better.agreeing(asking);
			}
		}
		asking.goOn();
	}

	/** Calls wait until the peer was asked about all methods; outstanding ones go on. */
	void agree() {
		RpcChannel channel;
		SchemaAgreement asking;
		synchronized (this) {
			channel = this.open;
			asking = this.agreement;
			if (this.state != ConnectionState.READY || channel == null || asking == null || asking.isComplete()) {
				return;
			}
			ConnectAttempt asked = new ConnectAttempt(this.context, this, channel);
			this.waits.begin();
			this.connecting = asked;
			this.state = ConnectionState.CONNECTING;
			this.open = null;
			this.limit.begin();
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
		List<AwaitedChannel> waiting = List.of();
		RpcChannel left = null;
		synchronized (this) {
			ConnectAttempt succeeded = this.connecting;
			if (succeeded == null || !succeeded.isOf(channel)) {
				left = (channel != this.open) ? moveTo(channel) : null;
			}
			else if (!SchemaAgreement.goesOn(this.agreement)) {
				if (this.pauses.failures() > 0) {
					logger.info("Connected to {} after {} failures", target(), this.pauses.failures());
				}
				this.pauses.succeeded();
				this.lastFailure = "";
				this.connecting = null;
				this.context.history().avoid(succeeded.failed());
				opened(channel);
				waiting = this.waits.succeeded();
			}
		}
		waiting.forEach((future) -> future.complete(channel));
		if (left != null) {
			left.drain();
		}
	}

	private void opened(RpcChannel channel) {
		if (channel != this.counted) {
			this.counters.connected();
			this.counted = channel;
		}
		this.open = channel;
		this.state = ConnectionState.READY;
		this.better.use(channel);
	}

	/**
	 * Has new calls go over a channel on a better rail, if it is still needed.
	 * @return what is needed no more but for the calls that are outstanding on it, and is
	 * to be drained once the lock is released
	 */
	private @Nullable RpcChannel moveTo(RpcChannel channel) {
		RpcChannel before = this.open;
		SchemaAgreement known = this.better.isOf(channel) ? this.better.agreement() : null;
		if (known == null || before == null || this.state != ConnectionState.READY) {
			if (this.better.isOf(channel)) {
				this.better.ended(before);
			}
			return channel;
		}
		if (SchemaAgreement.goesOn(known)) {
			return null;
		}
		logger.info("Connection to {} moves from {} to {}", target(), before.loop().rail(), channel.loop().rail());
		this.agreement = known;
		this.better.end();
		opened(channel);
		return before;
	}

	@Override
	public synchronized void onUnauthenticated(RpcChannel channel) {
		this.unauthenticated |= isConnecting(channel);
	}

	@Override
	public void onGoodbye(RpcChannel channel) {
		ended(channel, "the peer is shutting down", true);
	}

	@Override
	public void onClosed(RpcChannel channel, String reason) {
		ended(channel, reason, false);
	}

	private void ended(RpcChannel channel, String reason, boolean orderly) {
		AwaitedChannel failed = null;
		ConnectAttempt next;
		synchronized (this) {
			ConnectAttempt current = this.connecting;
			if (this.state == ConnectionState.CLOSED) {
				return;
			}
			if (channel == this.open) {
				next = lost(reason, orderly);
			}
			else if (this.better.isOf(channel)) {
				next = this.better.failed(reason, this.open);
			}
			else if (current == null || !current.isOf(channel)) {
				return;
			}
			else if (channel == this.counted) {
				failed = this.waits.attempt();
				next = lost(reason, orderly);
			}
			else if (current.failed(reason)) {
				this.limit.begin();
				next = current;
			}
			else {
				failed = this.waits.attempt();
				next = attemptFailed(current.reason(reason));
			}
		}
		fail(failed, next);
	}

	@Override
	public void failed(ConnectAttempt ended, String reason) {
		AwaitedChannel failed;
		ConnectAttempt next;
		synchronized (this) {
			if (this.better.is(ended)) {
				this.better.ended(this.open);
				return;
			}
			if (this.state == ConnectionState.CLOSED || ended != this.connecting) {
				return;
			}
			failed = this.waits.attempt();
			next = attemptFailed(ended.reason(reason));
		}
		fail(failed, next);
	}

	private void fail(@Nullable AwaitedChannel failed, @Nullable ConnectAttempt next) {
		try {
			if (failed != null) {
				failed.completeExceptionally(unavailable());
			}
		}
		finally {
			goOn(next);
		}
	}

	private @Nullable ConnectAttempt attemptFailed(String reason) {
		boolean restarting = this.restartingUntilNanos - System.nanoTime() > 0;
		logger.atLevel(this.pauses.levelOfFailure(restarting)).log("No connection to {}: {}", target(), reason);
		this.connecting = null;
		this.state = ConnectionState.IDLE;
		this.lastFailure = reason;
		this.counters.watch.unreachable();
		return attemptAt(this.pauses.afterFailure(this.waits.isAwaited()));
	}

	/** Connects anew, at once unless that is the second time within the first pause. */
	private @Nullable ConnectAttempt lost(String reason, boolean orderly) {
		this.restartingUntilNanos = System.nanoTime() + this.options.restartTimeout().toNanos();
		this.lastFailure = reason;
		this.state = ConnectionState.IDLE;
		this.open = null;
		this.connecting = null;
		logger.info("Connection to {} lost: {}", target(), reason);
		this.counters.lost(orderly);
		ConnectAttempt next = attemptAt(this.pauses.afterLoss());
		return (this.waits.isAwaited() && this.state == ConnectionState.BACKOFF) ? attemptAt(this.pauses.cutShort())
				: next;
	}

	/** Says goodbye; outstanding calls are finished. */
	void close() {
		RpcChannel current;
		RpcChannel pending;
		RpcChannel moving;
		synchronized (this) {
			current = this.open;
			pending = (this.connecting != null) ? this.connecting.channel() : null;
			moving = this.better.close();
			this.open = null;
			this.connecting = null;
			this.state = ConnectionState.CLOSED;
		}
		failAll();
		if (current != null) {
			current.drain();
		}
		ConnectAttempt.dismiss(pending);
		ConnectAttempt.dismiss(moving);
	}

	/** Nobody will connect any more. */
	private void failAll() {
		List<AwaitedChannel> all;
		synchronized (this) {
			all = this.waits.all();
		}
		all.forEach((waiting) -> waiting.completeExceptionally(closed()));
	}

}
