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

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.InvocationTargetException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Objects;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.codec.MessageFormat;
import dev.rdmarpc.codec.ReceivedMemory;

/**
 * A method with the object that serves it.
 *
 * @param descriptor the method
 * @param handler takes the arguments as an array and returns the result
 * @param handlerOfOne takes the argument itself, if there is exactly one
 * @param inline whether the handler always runs on the loop's thread
 * @param pace decides where the handler runs if that follows its pace, else {@code null}
 * @param failures where those of the handler are told
 * @param interceptors around the handler
 * @param allowed who may call it, or {@code null} for all who may connect
 */
record ExportedMethod(MethodDescriptor descriptor, MethodHandle handler, @Nullable MethodHandle handlerOfOne,
		boolean inline, @Nullable HandlerPace pace, HandlerFailures failures, List<RpcServerInterceptor> interceptors,
		@Nullable AllowedCallers allowed) {

	/** More may be too many for a method handle, where some count twice. */
	private static final int MAX_HANDLE_PARAMETERS = 120;

	private static final MethodHandle REFLECTIVE = reflective();

	private static MethodHandle reflective() {
		try {
			return MethodHandles.lookup()
				.findStatic(ExportedMethod.class, "invokeReflectively", MethodType.methodType(Object.class,
						java.lang.reflect.Method.class, Object.class, Object[].class));
		}
		catch (ReflectiveOperationException ex) {
			throw new ExceptionInInitializerError(ex);
		}
	}

	@SuppressWarnings("unused") // through REFLECTIVE
	private static @Nullable Object invokeReflectively(java.lang.reflect.Method method, Object target,
			@Nullable Object[] arguments) throws Throwable {
		try {
			return method.invoke(target, arguments);
		}
		catch (InvocationTargetException ex) {
			throw ex.getCause();
		}
	}

	static ExportedMethod of(MethodDescriptor descriptor, Object target, Dispatch dispatch,
			List<RpcExceptionHandler> exceptionHandlers, List<RpcServerInterceptor> interceptors) {
		List<RpcServerInterceptor> own = interceptors.stream()
			.filter((interceptor) -> interceptor.appliesTo(descriptor))
			.toList();
		boolean inline = descriptor.inline() || dispatch == Dispatch.INLINE;
		HandlerPace pace = (!inline && dispatch == Dispatch.ADAPTIVE) ? new HandlerPace(System.nanoTime()) : null;
		try {
			java.lang.reflect.Method method = descriptor.javaMethod();
			method.setAccessible(true);
			MethodHandle ofOne = null;
			MethodHandle ofAll;
			if (method.getParameterCount() > MAX_HANDLE_PARAMETERS) {
				ofAll = MethodHandles.insertArguments(REFLECTIVE, 0, method, target);
			}
			else {
				MethodHandle bound = MethodHandles.lookup().unreflect(method).bindTo(target);
				MethodHandle spread = bound.asSpreader(Object[].class, method.getParameterCount());
				ofAll = spread.asType(spread.type().changeReturnType(Object.class));
				boolean one = method.getParameterCount() == 1 && !descriptor.consuming() && own.isEmpty();
				ofOne = one ? bound.asType(bound.type().generic()) : null;
			}
			return new ExportedMethod(descriptor, ofAll, ofOne, inline, pace,
					new HandlerFailures(descriptor, exceptionHandlers), own, null);
		}
		catch (IllegalAccessException | RuntimeException ex) {
			throw new IllegalArgumentException(descriptor.fullName()
					+ " cannot be called: its interface must be public or in a package open to rdma-rpc", ex);
		}
	}

	/** The same for some callers only. */
	ExportedMethod allowing(@Nullable AllowedCallers callers) {
		return new ExportedMethod(this.descriptor, this.handler, this.handlerOfOne, this.inline, this.pace,
				this.failures, this.interceptors, callers);
	}

	/** Whether the next call may run on the thread of the loop. */
	boolean mayRunOnLoop(long nowNanos) {
		return (this.pace != null) ? this.pace.mayRunOnLoop(nowNanos) : this.inline;
	}

	/**
	 * Decodes the arguments.
	 * @param format of what the caller has sent
	 * @return the arguments as an array, or the only one
	 */
	@Nullable Object decode(MessageFormat format, ByteBuffer encoded, ReceivedMemory received) {
		MessageFormat only = (this.handlerOfOne != null) ? format.onlyArgument() : null;
		return ((only != null) ? only : format).decode(encoded, received);
	}

	/**
	 * Runs the handler, and interceptors around it, in the thread that serves the call.
	 * @param format the arguments were decoded with
	 */
	@Nullable Object invoke(MessageFormat format, @Nullable Object arguments) throws Throwable {
		if (!this.interceptors.isEmpty()) {
			return ServedInvocation
				.of(this::invoke, this.interceptors, Objects.requireNonNull(RpcContext.current()),
						(@Nullable Object[]) Objects.requireNonNull(arguments))
				.proceed();
		}
		MethodHandle ofOne = (format.onlyArgument() != null) ? this.handlerOfOne : null;
		return (ofOne != null) ? result(ofOne.invokeExact(arguments))
				: invoke((@Nullable Object[]) Objects.requireNonNull(arguments));
	}

	private @Nullable Object invoke(@Nullable Object[] arguments) throws Throwable {
		return result(this.handler.invokeExact(arguments));
	}

	private @Nullable Object result(@Nullable Object result) {
		return this.descriptor.asynchronous() ? promised(result) : result;
	}

	private Object promised(@Nullable Object returned) {
		if (returned == null) {
			throw new HandlerFailures.Mistake(
					"the handler returned null (expected: a " + (this.descriptor.later() ? "Mono" : "future") + ")");
		}
		return this.descriptor.promised(returned);
	}

}
