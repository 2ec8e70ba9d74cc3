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

package dev.rdmarpc.boot;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import org.springframework.aot.hint.annotation.Reflective;

/**
 * Marks a method of an {@link RdmaAdvice} that decides what the caller is told of an
 * exception. The method whose exception is nearest to the one thrown is called, or, if
 * there is none, the one that is nearest to its cause.
 *
 * <p>
 * It may have the exception and the {@link dev.rdmarpc.rpc.MethodDescriptor} as
 * parameters. It returns an {@link dev.rdmarpc.rpc.RpcException}; or an
 * {@link dev.rdmarpc.rpc.RpcStatus}, to which the message of the exception is added; or
 * another exception, which reaches the caller if the method called declares it.
 * {@code null} leaves the exception to the next advice.
 */
@Documented
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
@Reflective
public @interface RdmaExceptionHandler {

	/** The exceptions; by default those of the parameter. */
	Class<? extends Throwable>[] value() default {};

}
