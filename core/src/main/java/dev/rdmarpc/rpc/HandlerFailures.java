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
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;

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
 * Tells the caller and whoever runs the server of failures of one method's handler.
 * Thread-safe.
 *
 * <p>
 * A caller gets a status that was chosen, an exception that the method declares, or what
 * an {@link RpcExceptionHandler} makes of any other: these are no surprise to anybody,
 * and neither is what a handler throws when its caller has gone, so they are for
 * debugging, unless nobody waits for a reply. Of all other exceptions the caller gets no
 * word but a reference, which is in the log too, with the stack. A failed call of the
 * handler's own, which it let pass, was not chosen.
 *
 * <p>
 * Exceptions of one class share a reference, because a line for each of them could fill
 * the log.
 */
final class HandlerFailures {

	private static final Logger logger = LoggerFactory.getLogger(HandlerFailures.class);

	private static final RateLimitedLogger releases = new RateLimitedLogger(logger);

	/** What tracers call it in the logging context. */
	private static final String TRACE_ID = "traceId";

	private static final int MAX_KINDS = 16;

	private final MethodDescriptor method;

	private final List<RpcExceptionHandler> handlers;

	private final RateLimitedLogger expected = new RateLimitedLogger(logger);

	private final RateLimitedLogger passed = new RateLimitedLogger(logger);

	private final Map<Class<?>, Kind> kinds = new ConcurrentHashMap<>();

	HandlerFailures(MethodDescriptor method, List<RpcExceptionHandler> handlers) {
		this.method = method;
		this.handlers = handlers;
	}

	/**
	 * A handler has failed.
	 * @param unencoded what its result is, if that cannot be encoded, or nothing
	 * @param observation whose scope brings the trace into the logging context
	 * @param listener who hears of it
	 * @return what the caller is told
	 */
	FailureReply report(String unencoded, RpcChannel caller, @Nullable CallObservation observation, Throwable failure,
			Listener listener) {
		if (failure instanceof RpcException chosen) {
			write(listener, chosen.service().isEmpty(), caller, observation, failure);
			return chosen(chosen);
		}
		FailureReply known = unencoded.isEmpty() ? known(handled(failure)) : null;
		if (known != null || listener == Listener.GONE) {
			write(listener, true, caller, observation, failure);
			return (known != null) ? known : new FailureReply(statusOf(failure), "");
		}
		Kind kind = kind(failure.getClass());
		String reference = "reference " + kind.reference();
		write(kind.lines(), (failure instanceof Error) ? Level.ERROR : Level.WARN, ", " + reference, caller,
				observation, failure);
		if (!unencoded.isEmpty()) {
			return new FailureReply(RpcStatus.INTERNAL,
					unencoded + ((failure instanceof CodecException) ? FailureText.message(failure) : reference));
		}
		return (failure instanceof Mistake) ? new FailureReply(RpcStatus.INTERNAL, failure.getMessage())
				: new FailureReply(statusOf(failure), "the handler failed, " + reference);
	}

	/** What the first handler that knows it makes of an exception, or the exception. */
	private Throwable handled(Throwable failure) {
		for (RpcExceptionHandler handler : this.handlers) {
			try {
				Throwable handled = handler.handle(this.method, failure);
				if (handled != null) {
					return handled;
				}
			}
			catch (Throwable ex) {
				return ex;
			}
		}
		return failure;
	}

	/** What was decided to be told, or {@code null} if nothing was. */
	private @Nullable FailureReply known(Throwable failure) {
		if (failure instanceof RpcException chosen) {
			return chosen(chosen);
		}
		DeclaredException declared = this.method.exceptions().of(failure);
		if (declared == null) {
			return null;
		}
		String message = FailureText.message(failure);
		return new FailureReply(statusOf(failure), (message != null) ? message : "",
				(metadata) -> declared.write(failure, metadata));
	}

	/** Details that another server has told this one are not for the caller. */
	private FailureReply chosen(RpcException failure) {
		Record details = failure.givenDetails();
		return new FailureReply(failure.status(), failure.detail(),
				(details != null) ? (metadata) -> this.method.details().write(details, metadata) : null);
	}

	/** The status of an exception for which nobody has chosen one. */
	private static RpcStatus statusOf(Throwable failure) {
		if (failure instanceof IllegalArgumentException) {
			return RpcStatus.INVALID_ARGUMENT;
		}
		return (failure instanceof UnsupportedOperationException) ? RpcStatus.UNIMPLEMENTED : RpcStatus.UNKNOWN;
	}

	/** A handler has given back what was only lent to it. */
	static void releasedTooOften(MethodDescriptor method, Throwable failure) {
		releases.log(Level.ERROR, "A handler of {} released what it did not hold", method, failure);
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

	private Kind kind(Class<?> type) {
		Class<?> known = (this.kinds.size() < MAX_KINDS || this.kinds.containsKey(type)) ? type : Throwable.class;
		return this.kinds.computeIfAbsent(known, (key) -> new Kind());
	}

	/**
	 * Writes a failure that is no surprise to its caller.
	 * @param own whether the handler has chosen it
	 */
	private void write(Listener listener, boolean own, RpcChannel caller, @Nullable CallObservation observation,
			Throwable failure) {
		boolean told = listener == Listener.GONE || (own && listener == Listener.WAITING);
		write(told ? this.expected : this.passed, told ? Level.DEBUG : Level.WARN, "", caller, observation, failure);
	}

	private void write(RateLimitedLogger lines, Level level, String reference, RpcChannel caller,
			@Nullable CallObservation observation, Throwable failure) {
		if (!logger.isEnabledForLevel(level)) {
			return;
		}
		CallObservation.Scope scope = (observation != null) ? observation.openScope() : null;
		try {
			String trace = MDC.get(TRACE_ID);
			lines.log(level, "{} failed for {}{}{}", this.method.fullName(), caller.remoteAddress(), reference,
					(trace != null) ? ", trace " + trace : "", failure);
		}
		finally {
			if (scope != null) {
				scope.close();
			}
		}
	}

	/** Who hears of a failure. */
	enum Listener {

		/** The caller. */
		WAITING,

		/** Nobody any more, because the caller has lost interest. */
		GONE,

		/** Nobody from the beginning. */
		NONE;

		static Listener of(boolean cancelled, boolean oneWay) {
			return cancelled ? GONE : oneWay ? NONE : WAITING;
		}

	}

	/** Exceptions of one class: their reference, and the limit of their lines. */
	private record Kind(String reference, RateLimitedLogger lines) {

		Kind() {
			this(String.format(Locale.ROOT, "%08x", ThreadLocalRandom.current().nextInt()),
					new RateLimitedLogger(logger));
		}

	}

	/** A handler does what no handler may do, which callers may know. */
	static final class Mistake extends IllegalStateException {

		Mistake(String message) {
			super(message);
		}

	}

}
