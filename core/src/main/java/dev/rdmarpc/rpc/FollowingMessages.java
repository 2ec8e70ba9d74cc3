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

import java.util.concurrent.Flow;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

import dev.rdmarpc.logging.FailureText;
import dev.rdmarpc.logging.RateLimitedLogger;
import dev.rdmarpc.transport.RpcChannel;
import dev.rdmarpc.transport.StreamSender;

/**
 * The messages that follow the request of a call: those of the publisher that the method
 * was called with. The publisher is subscribed to when the request is submitted, and its
 * subscription ends with the call at the latest.
 */
final class FollowingMessages extends PublishedMessages implements Continuation {

	private static final Logger logger = LoggerFactory.getLogger(FollowingMessages.class);

	private static final RateLimitedLogger failures = new RateLimitedLogger(logger);

	private final ClientLoops loops;

	private final MethodDescriptor method;

	private final Flow.Publisher<?> publisher;

	private final Consumer<RpcException> onFailure;

	private volatile @Nullable RpcChannel channel;

	private volatile @Nullable StreamSender sender;

	/**
	 * Creates the messages of one call.
	 * @param onFailure ends the call
	 */
	FollowingMessages(ClientLoops loops, MethodDescriptor method, Flow.Publisher<?> publisher,
			Consumer<RpcException> onFailure) {
		super(method.messages());
		this.loops = loops;
		this.method = method;
		this.publisher = publisher;
		this.onFailure = onFailure;
	}

	/** The request is about to be prepared. */
	void startsOn(RpcChannel open) {
		if (!open.streams().areKnown()) {
			throw RpcException.madeElsewhere(RpcStatus.UNIMPLEMENTED, "the server knows no streams", this.method, null);
		}
		this.channel = open;
		this.sender = open.streams().requestSender(this);
	}

	/** The request was submitted. */
	void begin() {
		subscribeTo(this.publisher);
	}

	@Override
	StreamSender sender() {
		return started(this.sender);
	}

	@Override
	RpcChannel channel() {
		return started(this.channel);
	}

	private static <T> T started(@Nullable T value) {
		if (value == null) {
			throw new IllegalStateException("messages of a call that has not started");
		}
		return value;
	}

	/** The server wants no more messages; driver. */
	@Override
	public void onStopped() {
		stop();
	}

	/** On the thread of the loop, after its turn. */
	@Override
	public void run() {
		this.loops.continuations(channel().loop()).run(channel().loop(), this);
	}

	@Override
	public void runElsewhere() {
		this.loops.runElsewhere(this::finish);
	}

	@Override
	public int finish() {
		return finishWork(true);
	}

	@Override
	void completed() {
		try {
			sender().prepareEnd().submit();
		}
		catch (Throwable ex) {
			unsendable(RpcStatus.RESOURCE_EXHAUSTED, "the end of the messages cannot be sent: ", ex);
		}
	}

	@Override
	void failed(Throwable failure) {
		if (failure instanceof RpcException chosen) {
			unsendable(chosen.status(), "", chosen);
		}
		else {
			unsendable(RpcStatus.CANCELLED, "the publisher of the messages failed: ", failure);
		}
	}

	@Override
	void unsendable(RpcStatus status, String before, Throwable failure) {
		String why = (failure instanceof RpcException known) ? known.detail()
				: (failure instanceof HandlerFailures.Mistake) ? failure.getMessage() : FailureText.of(failure);
		this.onFailure.accept(RpcException.madeElsewhere(status, before + why, this.method, failure));
	}

	@Override
	void dropped() {
		// the call knows
	}

	@Override
	void report(Throwable failure) {
		failures.log(Level.WARN, "A publisher of messages for {} failed when it was canceled", this.method, failure);
	}

}
