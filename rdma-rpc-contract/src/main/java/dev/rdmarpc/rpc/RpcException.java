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

import java.util.Arrays;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;

import org.jspecify.annotations.Nullable;

/**
 * A call has failed. Handlers throw it to choose the status their caller gets.
 *
 * <p>
 * A caller gets an exception with its own stack, from blocking calls as well as from
 * {@code get} and {@code join}. A stage that depends on a call gets one without a stack,
 * because whichever thread learned of the failure created it.
 *
 * <p>
 * Implementation notes. A failure that is not thrown where it is created has no stack,
 * since filling it in is expensive, and gets one when it is first thrown. If it is thrown
 * again, for example to a second thread with the same future, a copy is thrown. During
 * the construction of {@link Throwable}, {@link #status} is still null.
 */
public class RpcException extends RuntimeException {

	private static final int MAX_CAUSES = 16;

	private final RpcStatus status;

	private final String detail;

	private final String service;

	private final String method;

	private final @Nullable AtomicBoolean thrown;

	private final @Nullable Throwable declared;

	private final transient @Nullable FailureDetails details;

	private final boolean beforeExecution;

	/**
	 * For handlers: fails the call with a status and a text for the caller.
	 * @param detail the text; {@code null}, the message of many exceptions, is an empty
	 * text
	 */
	public RpcException(RpcStatus status, @Nullable String detail) {
		this(status, detail, "", "", null);
	}

	/**
	 * For handlers: fails the call with a status, a text and details for the caller, who
	 * gets them from {@link #details}.
	 * @param detail the text; {@code null} is an empty text
	 * @param details a record of types that can be results. Details that exceed the room
	 * for metadata are left out, or violations at their end
	 */
	public RpcException(RpcStatus status, @Nullable String detail, Record details) {
		this(status, (detail != null) ? detail : "", "", "", null, false, null, new FailureDetails.Given(details));
	}

	/**
	 * Creates the exception a caller gets.
	 * @param detail what happened, without status and method
	 */
	public RpcException(RpcStatus status, @Nullable String detail, String service, String method,
			@Nullable Throwable cause) {
		this(status, (detail != null) ? detail : "", service, method, cause, false, null, null);
	}

	private RpcException(RpcStatus status, String detail, String service, String method, @Nullable Throwable cause,
			boolean madeElsewhere, @Nullable Throwable declared, @Nullable FailureDetails details) {
		this(status, detail, service, method, cause, madeElsewhere, declared, details, false);
	}

	private RpcException(RpcStatus status, String detail, String service, String method, @Nullable Throwable cause,
			boolean madeElsewhere, @Nullable Throwable declared, @Nullable FailureDetails details,
			boolean beforeExecution) {
		super(text(status, detail, service, method), cause);
		if (status == RpcStatus.OK) {
			throw new IllegalArgumentException("an exception with status OK");
		}
		this.status = Objects.requireNonNull(status, "status");
		this.detail = detail;
		this.service = service;
		this.method = method;
		this.thrown = madeElsewhere ? new AtomicBoolean() : null;
		this.declared = declared;
		this.details = details;
		this.beforeExecution = beforeExecution;
		if (!madeElsewhere) {
			super.fillInStackTrace();
		}
	}

	/**
	 * The failure of a call that an exception stands for: itself, that of the stage or
	 * future that it comes from, or that behind an exception which the method declares.
	 * @return {@code null} if there is none
	 */
	public static @Nullable RpcException in(Throwable failure) {
		Throwable last = failure;
		for (int i = 0; i < MAX_CAUSES; i++) {
			if (last instanceof RpcException found) {
				return found;
			}
			Throwable cause = last.getCause();
			if (cause == null) {
				break;
			}
			last = cause;
		}
		return Arrays.stream(last.getSuppressed())
			.filter(RpcException.class::isInstance)
			.map(RpcException.class::cast)
			.findFirst()
			.orElse(null);
	}

	/**
	 * A failure to be thrown by another thread than this one, see {@link #thrownHere}.
	 */
	static RpcException madeElsewhere(RpcStatus status, String detail, @Nullable CalledMethod method,
			@Nullable Throwable cause) {
		return new RpcException(status, detail, (method != null) ? method.service() : "",
				(method != null) ? method.name() : "", cause, true, null, null);
	}

	/**
	 * The same for a reply that carries an exception which the method declares, or
	 * details.
	 */
	static RpcException madeElsewhere(RpcStatus status, String detail, CalledMethod method,
			@Nullable Throwable declared, @Nullable FailureDetails details) {
		return new RpcException(status, detail, method.service(), method.name(), null, true, declared, details);
	}

	/** The same for a failure of a certain method, to be thrown by another thread. */
	RpcException elsewhere(CalledMethod called) {
		return new RpcException(this.status, this.detail, called.service(), called.name(), getCause(), true,
				this.declared, this.details, this.beforeExecution);
	}

	/**
	 * What the current thread throws for this failure: with its own stack, unless the
	 * failure was thrown where it was created.
	 */
	RpcException thrownHere() {
		AtomicBoolean already = this.thrown;
		if (already == null) {
			return this;
		}
		if (already.compareAndSet(false, true)) {
			super.fillInStackTrace();
			return this;
		}
		return new RpcException(this.status, this.detail, this.service, this.method, getCause(), false, null,
				this.details, this.beforeExecution);
	}

	/**
	 * What the caller gets: the exception that the method declares, if the reply has
	 * brought one, with this one as its cause.
	 */
	Throwable forCaller() {
		Throwable known = this.declared;
		if (known == null) {
			return this;
		}
		if (known.getCause() == null) {
			try {
				known.initCause(this);
			}
			catch (IllegalStateException ex) {
				known.addSuppressed(this);
			}
		}
		return known;
	}

	@Override
	public synchronized Throwable fillInStackTrace() {
		return (this.status != null) ? super.fillInStackTrace() : this;
	}

	private static String text(RpcStatus status, String detail, String service, String method) {
		return service.isEmpty() ? status + ": " + detail : service + "/" + method + " " + status + ": " + detail;
	}

	/**
	 * The same failure of a call that no handler has begun with; for those who refuse
	 * calls, such as interceptors.
	 */
	public final RpcException beforeExecution() {
		return new RpcException(this.status, this.detail, this.service, this.method, getCause(), this.thrown != null,
				this.declared, this.details, true);
	}

	/**
	 * Whether it is certain that no handler has begun with the call: it was not sent, or
	 * the server has refused it. Such a call can be made again even if its method is not
	 * idempotent.
	 */
	public final boolean isBeforeExecution() {
		return this.beforeExecution;
	}

	/** How the call ended; never {@link RpcStatus#OK}. */
	public final RpcStatus status() {
		return this.status;
	}

	/** What happened, without status and method. */
	public final String detail() {
		return this.detail;
	}

	/**
	 * What the handler has said beyond status and text, if it is of that type.
	 * @param type the record that the handler has given, of a class of the same name
	 */
	public final <T extends Record> Optional<T> details(Class<T> type) {
		FailureDetails held = this.details;
		return (held != null) ? Optional.ofNullable(held.as(type)) : Optional.empty();
	}

	/** The details that were given here, or {@code null}. */
	@Nullable Record givenDetails() {
		return (this.details instanceof FailureDetails.Given given) ? given.value() : null;
	}

	/** The service called, or an empty string. */
	public final String service() {
		return this.service;
	}

	/** The method called, or an empty string. */
	public final String method() {
		return this.method;
	}

}
