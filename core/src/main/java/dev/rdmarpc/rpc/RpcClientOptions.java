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

import java.time.Duration;

import dev.rdmarpc.transport.ChannelOptions;
import dev.rdmarpc.transport.RailOptions;

/**
 * The settings of a client.
 *
 * @param channel limits and timeouts of its channels
 * @param defaultDeadline deadline of calls without their own, but for streams; zero means
 * none
 * @param connectTimeout how long a call waits for a connection to be set up
 * @param initialBackoff pause after the first failed attempt to connect
 * @param maxBackoff longest pause; pauses double with each failure, with jitter, and are
 * at most a quarter of a second while a call waits for a connection
 * @param queuePairs the number of queue pairs
 * @param restartTimeout how long after the loss of a connection calls of idempotent
 * methods wait for another one, within their deadline; zero means no longer than others
 * @param waitForReady whether all calls wait for a connection, within their deadline,
 * instead of failing with the first failed attempt to connect
 * @param rails which rails are used, and how
 * @param priority the priority of calls of methods that declare none, or {@code NORMAL}
 */
public record RpcClientOptions(ChannelOptions channel, Duration defaultDeadline, Duration connectTimeout,
		Duration initialBackoff, Duration maxBackoff, QueuePairPoolOptions queuePairs, Duration restartTimeout,
		boolean waitForReady, RailOptions rails, Priority priority) {

	/**
	 * A deadline of 30 s, 5 s to connect, pauses of 50 ms to 2 s, 10 s for a restart.
	 */
	public static final RpcClientOptions DEFAULTS = new RpcClientOptions(ChannelOptions.DEFAULTS,
			Duration.ofSeconds(30), Duration.ofSeconds(5), Duration.ofMillis(50), Duration.ofSeconds(2),
			QueuePairPoolOptions.DEFAULTS, Duration.ofSeconds(10), false, RailOptions.DEFAULTS, Priority.NORMAL);

	/**
	 * Checks the bounds.
	 * @throws IllegalArgumentException naming the value and what was expected
	 */
	public RpcClientOptions {
		if (defaultDeadline.isNegative()) {
			throw new IllegalArgumentException("default deadline " + defaultDeadline + " (expected: not negative)");
		}
		if (connectTimeout.isNegative() || connectTimeout.isZero()) {
			throw new IllegalArgumentException("connect timeout " + connectTimeout + " (expected: positive)");
		}
		if (initialBackoff.isNegative() || initialBackoff.isZero() || maxBackoff.compareTo(initialBackoff) < 0) {
			throw new IllegalArgumentException("backoff " + initialBackoff + " to " + maxBackoff
					+ " (expected: positive, the second not less than the first)");
		}
		if (restartTimeout.isNegative()) {
			throw new IllegalArgumentException("restart timeout " + restartTimeout + " (expected: not negative)");
		}
	}

	/** These options with another default deadline. */
	public RpcClientOptions withDefaultDeadline(Duration deadline) {
		return new RpcClientOptions(this.channel, deadline, this.connectTimeout, this.initialBackoff, this.maxBackoff,
				this.queuePairs, this.restartTimeout, this.waitForReady, this.rails, this.priority);
	}

	/** These options with another channel. */
	public RpcClientOptions withChannel(ChannelOptions other) {
		return new RpcClientOptions(other, this.defaultDeadline, this.connectTimeout, this.initialBackoff,
				this.maxBackoff, this.queuePairs, this.restartTimeout, this.waitForReady, this.rails, this.priority);
	}

	/** These options with other pauses. */
	public RpcClientOptions withBackoff(Duration initial, Duration max) {
		return new RpcClientOptions(this.channel, this.defaultDeadline, this.connectTimeout, initial, max,
				this.queuePairs, this.restartTimeout, this.waitForReady, this.rails, this.priority);
	}

	/** These options with other numbers of queue pairs. */
	public RpcClientOptions withQueuePairs(QueuePairPoolOptions other) {
		return new RpcClientOptions(this.channel, this.defaultDeadline, this.connectTimeout, this.initialBackoff,
				this.maxBackoff, other, this.restartTimeout, this.waitForReady, this.rails, this.priority);
	}

	/** These options with another time to connect. */
	public RpcClientOptions withConnectTimeout(Duration timeout) {
		return new RpcClientOptions(this.channel, this.defaultDeadline, timeout, this.initialBackoff, this.maxBackoff,
				this.queuePairs, this.restartTimeout, this.waitForReady, this.rails, this.priority);
	}

	/** These options with another time for a restart. */
	public RpcClientOptions withRestartTimeout(Duration timeout) {
		return new RpcClientOptions(this.channel, this.defaultDeadline, this.connectTimeout, this.initialBackoff,
				this.maxBackoff, this.queuePairs, timeout, this.waitForReady, this.rails, this.priority);
	}

	/** These options, with calls that wait for a connection, or do not. */
	public RpcClientOptions withWaitForReady(boolean wait) {
		return new RpcClientOptions(this.channel, this.defaultDeadline, this.connectTimeout, this.initialBackoff,
				this.maxBackoff, this.queuePairs, this.restartTimeout, wait, this.rails, this.priority);
	}

	/** These options with other rails. */
	public RpcClientOptions withRails(RailOptions other) {
		return new RpcClientOptions(this.channel, this.defaultDeadline, this.connectTimeout, this.initialBackoff,
				this.maxBackoff, this.queuePairs, this.restartTimeout, this.waitForReady, other, this.priority);
	}

	/** These options with another priority. */
	public RpcClientOptions withPriority(Priority other) {
		return new RpcClientOptions(this.channel, this.defaultDeadline, this.connectTimeout, this.initialBackoff,
				this.maxBackoff, this.queuePairs, this.restartTimeout, this.waitForReady, this.rails, other);
	}

}
