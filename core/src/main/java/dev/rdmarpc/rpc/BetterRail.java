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
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import dev.rdmarpc.transport.Rail;
import dev.rdmarpc.transport.RpcChannel;

/**
 * The search of a queue pair on one rail for a better one, from time to time. Guarded by
 * the connection, like the attempt.
 */
final class BetterRail {

	private static final Logger logger = LoggerFactory.getLogger(BetterRail.class);

	private final AttemptContext context;

	private final ConnectAttempt.Owner owner;

	private final Runnable due;

	private @Nullable Future<?> scheduled;

	private @Nullable ConnectAttempt attempt;

	private @Nullable SchemaAgreement agreement;

	/**
	 * Creates what searches nothing yet.
	 * @param due called on the timer's thread when it is time to {@link #begin}
	 */
	BetterRail(AttemptContext context, ConnectAttempt.Owner owner, Runnable due) {
		this.context = context;
		this.owner = owner;
		this.due = due;
	}

	/** A channel is in use; if there are better rails than its, one will be tried. */
	void use(RpcChannel open) {
		if (this.scheduled != null || this.attempt != null || this.context.history().isBest(open.loop().rail())) {
			return;
		}
		try {
			this.scheduled = this.context.transport()
				.timer()
				.schedule(this.due, this.context.options().rails().betterInterval().toNanos(), TimeUnit.NANOSECONDS);
		}
		catch (RejectedExecutionException ex) {
			logger.debug("Looking for no better rail any more: the transport is closed");
		}
	}

	/**
	 * It is time to try. Where the peer in use cannot be reached better, its name is not
	 * resolved once more.
	 * @param open the channel in use, if there is one
	 * @return what to start once the lock is released
	 */
	@Nullable ConnectAttempt begin(@Nullable RpcChannel open) {
		this.scheduled = null;
		if (open == null || this.attempt != null) {
			return null;
		}
		InetSocketAddress remote = open.remoteAddress();
		List<Rail> better = this.context.history()
			.betterThan(open.loop().rail())
			.stream()
			.filter((rail) -> remote == null || rail.mayReach(remote))
			.toList();
		if (better.isEmpty()) {
			use(open);
			return null;
		}
		this.attempt = new ConnectAttempt(this.context, this.owner, better, true);
		return this.attempt;
	}

	boolean is(ConnectAttempt other) {
		return this.attempt == other;
	}

	boolean isOf(RpcChannel channel) {
		return this.attempt != null && this.attempt.isOf(channel);
	}

	/**
	 * The channel that was to be better has closed.
	 * @param open the one in use, if any
	 * @return what to go on with once the lock is released
	 */
	@Nullable ConnectAttempt failed(String reason, @Nullable RpcChannel open) {
		ConnectAttempt current = this.attempt;
		if (current != null && current.failed(reason)) {
			return current;
		}
		ended(open);
		return null;
	}

	/** Nothing came of it; the channel in use, if any, is used on. */
	void ended(@Nullable RpcChannel open) {
		end();
		if (open != null) {
			use(open);
		}
	}

	/** The attempt is over, even if there is no memory to learn from it. */
	void end() {
		ConnectAttempt over = this.attempt;
		this.attempt = null;
		this.agreement = null;
		if (over != null) {
			this.context.history().avoid(over.failed());
		}
	}

	/** The channel is open, and asks for schemas. */
	void agreeing(SchemaAgreement asking) {
		this.agreement = asking;
	}

	/** What its channel has agreed on. */
	@Nullable SchemaAgreement agreement() {
		return this.agreement;
	}

	/** Searches no more; returns the channel that was being connected, if any. */
	@Nullable RpcChannel close() {
		if (this.scheduled != null) {
			this.scheduled.cancel(false);
		}
		RpcChannel channel = (this.attempt != null) ? this.attempt.channel() : null;
		this.attempt = null;
		return channel;
	}

}
