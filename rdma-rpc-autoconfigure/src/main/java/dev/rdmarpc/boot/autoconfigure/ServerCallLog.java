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

package dev.rdmarpc.boot.autoconfigure;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.MDC;
import org.slf4j.event.Level;

import dev.rdmarpc.logging.RateLimitedLogger;
import dev.rdmarpc.rpc.CallMetadata;
import dev.rdmarpc.rpc.CallObservation;
import dev.rdmarpc.rpc.CallObserver;
import dev.rdmarpc.rpc.MethodDescriptor;
import dev.rdmarpc.rpc.RpcServer;
import dev.rdmarpc.rpc.RpcStatus;

/**
 * Writes log lines about calls that are served: one for each call, or for those that are
 * slow, or both. Lines of slow calls are rate limited for each method. Streams are not
 * slow, however long they last.
 *
 * <p>
 * Thread-safe. It comes after the observer that traces, whose scopes bring the trace id
 * into the logging context.
 */
final class ServerCallLog implements CallObserver {

	/** What tracers call it in the logging context. */
	private static final String TRACE_ID = "traceId";

	private static final Logger access = LoggerFactory.getLogger("dev.rdmarpc.access");

	private static final Logger slow = LoggerFactory.getLogger("dev.rdmarpc.slow-calls");

	/** One for each method that was slow, by its full name. */
	private final Map<String, RateLimitedLogger> slowMethods = new ConcurrentHashMap<>();

	private final long thresholdNanos;

	private final boolean all;

	/**
	 * Creates a log.
	 * @param threshold how long a call takes that is slow, {@code null} for no such lines
	 * @param all whether each call has a line
	 */
	ServerCallLog(@Nullable Duration threshold, boolean all) {
		this.thresholdNanos = (threshold != null) ? threshold.toNanos() : Long.MAX_VALUE;
		this.all = all;
	}

	/** Refuses a threshold that is none. */
	static void check(RdmaRpcProperties.Server server) {
		Duration threshold = server.slowCallThreshold();
		if (threshold != null) {
			PropertyCheck.positive("rdma.rpc.server.slow-call-threshold", threshold);
		}
	}

	/** Adds a log to a server if properties ask for one. */
	static void addTo(RpcServer.Builder builder, RdmaRpcProperties.Server server) {
		Duration threshold = server.slowCallThreshold();
		check(server);
		if (threshold != null || server.accessLog()) {
			builder.observer(new ServerCallLog(threshold, server.accessLog()));
		}
	}

	@Override
	public CallObservation callStarted(MethodDescriptor method, String peer, CallMetadata metadata) {
		return new LoggedCall(method, peer);
	}

	private void write(LoggedCall call, RpcStatus status, long waitedNanos, long ranNanos) {
		MethodDescriptor method = call.method;
		String peer = call.peer.substring(call.peer.indexOf('/') + 1);
		String trace = (call.trace != null) ? ", trace " + call.trace : "";
		if (this.all) {
			access.info("{} {} {}, waited {} us, ran {} us{}", peer, method.fullName(), status, waitedNanos / 1_000,
					ranNanos / 1_000, trace);
		}
		if (waitedNanos + ranNanos >= this.thresholdNanos && !method.streaming() && !method.consuming()) {
			this.slowMethods.computeIfAbsent(method.fullName(), (name) -> new RateLimitedLogger(slow))
				.log(Level.WARN, "Slow call of {} from {}: {}, waited {} ms, ran {} ms{}", method.fullName(), peer,
						status, waitedNanos / 1_000_000, ranNanos / 1_000_000, trace);
		}
	}

	/** A call being timed. */
	private final class LoggedCall implements CallObservation {

		private final MethodDescriptor method;

		private final String peer;

		private final long begunNanos = System.nanoTime();

		/** When its handler began, 0 before. */
		private volatile long ranFromNanos;

		private volatile @Nullable String trace;

		LoggedCall(MethodDescriptor method, String peer) {
			this.method = method;
			this.peer = peer;
		}

		/** The first one is that of the handler; there may be one for a log line. */
		@Override
		public Scope openScope() {
			if (this.ranFromNanos == 0) {
				this.trace = MDC.get(TRACE_ID);
				long now = System.nanoTime();
				this.ranFromNanos = (now != 0) ? now : 1;
			}
			return Scope.NONE;
		}

		@Override
		public void callEnded(RpcStatus status, @Nullable Throwable error) {
			long now = System.nanoTime();
			long ranFrom = this.ranFromNanos;
			boolean ran = ranFrom != 0;
			write(this, status, (ran ? ranFrom : now) - this.begunNanos, ran ? now - ranFrom : 0);
		}

	}

}
