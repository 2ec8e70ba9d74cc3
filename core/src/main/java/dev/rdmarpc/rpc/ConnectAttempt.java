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
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.transport.ChannelOptions;
import dev.rdmarpc.transport.Rail;
import dev.rdmarpc.transport.RpcChannel;

/**
 * An attempt to connect: asks for the address, then tries the rails that may reach it,
 * one after the other, until one does. Each step is made on a thread of its own, which
 * may block: callers, timer and loop must not.
 *
 * <p>
 * Implementation notes. The channel and what has failed are guarded by the owner, who
 * calls {@link #failed} and {@link #start} when a channel has closed; the rest is
 * confined to the step, of which there is one at a time.
 */
final class ConnectAttempt {

	private final AttemptContext context;

	private final Owner owner;

	private final Deque<Rail> left;

	/** Whether a connection works, and only what is likely to work is tried. */
	private final boolean optional;

	private final List<String> failures = new ArrayList<>();

	private final List<Rail> failed = new ArrayList<>();

	private @Nullable InetSocketAddress address;

	private @Nullable Rail rail;

	private volatile @Nullable RpcChannel channel;

	/**
	 * Creates an attempt, which is still to be started.
	 * @param rails in the order in which to try them
	 * @param optional whether nothing is to be tried that is not likely to work
	 */
	ConnectAttempt(AttemptContext context, Owner owner, List<Rail> rails, boolean optional) {
		this.context = context;
		this.owner = owner;
		this.left = new ArrayDeque<>(rails);
		this.optional = optional;
	}

	/** An attempt that has come so far as to have a channel, and has no other way. */
	ConnectAttempt(AttemptContext context, Owner owner, RpcChannel channel) {
		this(context, owner, List.of(), false);
		this.channel = channel;
	}

	/** Whether a channel is the one that is being connected. With the owner's lock. */
	boolean isOf(RpcChannel other) {
		return this.channel == other;
	}

	/** The channel that is being connected, if any. */
	@Nullable RpcChannel channel() {
		return this.channel;
	}

	/** The next one is being connected. With the owner's lock. */
	void channel(RpcChannel next) {
		this.channel = next;
	}

	/** The rails that were tried in vain. With the owner's lock. */
	List<Rail> failed() {
		return List.copyOf(this.failed);
	}

	/** Why it has failed, for all rails. With the owner's lock. */
	String reason(String last) {
		return (this.failures.size() < 2) ? last : String.join("; ", this.failures);
	}

	/**
	 * The channel has closed. With the owner's lock.
	 * @return whether there may be another rail, which {@link #start} tries
	 */
	boolean failed(String reason) {
		this.channel = null;
		Rail tried = this.rail;
		if (tried != null) {
			this.failed.add(tried);
			this.failures.add(tried.name() + ": " + reason);
		}
		return !this.left.isEmpty();
	}

	/** Begins the next step; without the lock. */
	void start() {
		try {
			hand();
		}
		catch (Throwable ex) {
			this.owner.abandoned(this);
			throw ex;
		}
	}

	private void hand() {
		try {
			this.context.transport().resolver().execute(this::run);
		}
		catch (RejectedExecutionException ex) {
			end("the transport is closed");
		}
		catch (Throwable ex) {
			end(FailedAttempts.reason(AttemptContext.NO_THREAD, ex));
		}
	}

	/** Where there is no memory to tell how it has ended, it is not waited for. */
	private void run() {
		try {
			step();
		}
		catch (Throwable ex) {
			this.owner.abandoned(this);
			throw ex;
		}
	}

	private void end(String reason) {
		this.owner.resolving(this, false);
		this.owner.failed(this, reason);
	}

	private void step() {
		try {
			InetSocketAddress remote = this.address;
			if (remote == null) {
				this.owner.resolving(this, true);
				remote = this.context.addresses().get();
				this.address = remote;
			}
			this.owner.resolving(this, false);
			if (remote.isUnresolved()) {
				end("unknown host " + remote.getHostString());
				return;
			}
			tryNext(remote);
		}
		catch (Throwable ex) {
			end(FailedAttempts.reason((this.address != null) ? AttemptContext.NOT_TRIED : AttemptContext.NO_ADDRESS,
					ex));
		}
	}

	private void tryNext(InetSocketAddress remote) {
		Rail next = nextRail(remote);
		if (next == null) {
			end("no rail reaches " + remote);
			return;
		}
		this.rail = next;
		RpcChannel created;
		try {
			created = this.context.newChannel(next, options());
		}
		catch (Throwable ex) {
			String reason = FailedAttempts.reason(AttemptContext.NOT_TRIED, ex);
			if (this.owner.mayGoOn(this, reason)) {
				tryNext(remote);
			}
			else {
				end(reason);
			}
			return;
		}
		if (this.owner.begins(this, created)) {
			this.context.transport().connect(created, remote, this.context.target());
		}
	}

	/** One that may reach the peer; if it is the only one, it says itself why not. */
	private @Nullable Rail nextRail(InetSocketAddress remote) {
		for (Rail next = this.left.poll(); next != null; next = this.left.poll()) {
			boolean only = this.left.isEmpty() && this.rail == null && !this.optional;
			if (only || next.mayReach(remote)) {
				return next;
			}
		}
		return null;
	}

	/** The client is closed; a call may be under way if it asks for schemas again. */
	static void dismiss(@Nullable RpcChannel unfinished) {
		if (unfinished != null && unfinished.outstandingCalls() > 0) {
			unfinished.drain();
		}
		else if (unfinished != null) {
			unfinished.close("the client is closed");
		}
	}

	/** While there are others, a rail has less time. */
	private ChannelOptions options() {
		ChannelOptions all = this.context.options().channel();
		return (this.left.isEmpty() && !this.optional) ? all
				: all.withHandshakeWithin(this.context.options().rails().attemptTimeout());
	}

	/** Whose attempt it is. */
	interface Owner {

		/** Whether the address is being asked for from now on. Needs no memory. */
		void resolving(ConnectAttempt attempt, boolean still);

		/** Nothing more may be heard of it. Needs no memory. */
		void abandoned(ConnectAttempt attempt);

		/**
		 * A channel is about to be connected.
		 * @return whether it still is to be
		 */
		boolean begins(ConnectAttempt attempt, RpcChannel channel);

		/**
		 * There are no resources to try a rail.
		 * @return whether there may be another one, and it is still to be tried
		 */
		boolean mayGoOn(ConnectAttempt attempt, String reason);

		/** No rail is left that could be tried, or none can be. */
		void failed(ConnectAttempt attempt, String reason);

	}

}
