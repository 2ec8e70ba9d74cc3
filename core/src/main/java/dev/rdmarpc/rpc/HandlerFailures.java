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

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.MDC;
import org.slf4j.event.Level;

import dev.rdmarpc.codec.CodecException;
import dev.rdmarpc.logging.FailureText;
import dev.rdmarpc.logging.RateLimitedLogger;
import dev.rdmarpc.transport.RpcChannel;

/**
 * Tells whoever runs the server of failures of one method's handler, of which the caller
 * gets no more than a line. Thread-safe.
 *
 * <p>
 * A status that the handler has chosen is no surprise, and neither is what it throws when
 * its caller has gone: both are for debugging. A failed call of its own, which it let
 * pass, was not chosen.
 */
final class HandlerFailures {

	private static final Logger logger = LoggerFactory.getLogger(HandlerFailures.class);

	/** What tracers call it in the logging context. */
	private static final String TRACE_ID = "traceId";

	private final RateLimitedLogger errors = new RateLimitedLogger(logger);

	private final RateLimitedLogger exceptions = new RateLimitedLogger(logger);

	private final RateLimitedLogger expected = new RateLimitedLogger(logger);

	/**
	 * A handler has failed; does not throw.
	 * @param observation whose scope brings the trace into the logging context
	 * @param cancelled whether the caller had lost interest
	 */
	void report(MethodDescriptor method, RpcChannel caller, @Nullable CallObservation observation, Throwable failure,
			boolean cancelled) {
		if (failure instanceof Error) {
			write(this.errors, Level.ERROR, method, caller, observation, failure);
		}
		else if (cancelled || (failure instanceof RpcException chosen && chosen.service().isEmpty())) {
			write(this.expected, Level.DEBUG, method, caller, observation, failure);
		}
		else {
			write(this.exceptions, Level.WARN, method, caller, observation, failure);
		}
	}

	/** What a caller is told of a failure. */
	static String detail(String before, Throwable failure) {
		if (before.isEmpty()) {
			return (failure instanceof RpcException chosen) ? chosen.detail() : FailureText.of(failure);
		}
		return before + ((failure instanceof CodecException) ? String.valueOf(failure.getMessage())
				: FailureText.of(failure));
	}

	/**
	 * The failure of a call whose result is too large, or for which there is no memory.
	 */
	static Throwable tooLarge(String before, RuntimeException failure) {
		try {
			return new RpcException(RpcStatus.RESOURCE_EXHAUSTED, before + failure.getMessage());
		}
		catch (Throwable ex) {
			return failure;
		}
	}

	private static void write(RateLimitedLogger lines, Level level, MethodDescriptor method, RpcChannel caller,
			@Nullable CallObservation observation, Throwable failure) {
		if (!logger.isEnabledForLevel(level)) {
			return;
		}
		CallObservation.Scope scope = (observation != null) ? observation.openScope() : null;
		try {
			String trace = MDC.get(TRACE_ID);
			lines.log(level, "{} failed for {}{}", method.fullName(), caller.remoteAddress(),
					(trace != null) ? ", trace " + trace : "", failure);
		}
		finally {
			if (scope != null) {
				scope.close();
			}
		}
	}

}
