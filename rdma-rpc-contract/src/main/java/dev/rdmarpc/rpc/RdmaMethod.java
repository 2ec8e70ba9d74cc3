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

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/** Settings of one method of a service interface. */
@Documented
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
public @interface RdmaMethod {

	/**
	 * The method's name on the wire; by default its Java name. Distinguishes overloads.
	 */
	String name() default "";

	/**
	 * The priority of its calls, unless {@code CallOptions} set another; one at most.
	 * None means the client's default.
	 */
	Priority[] priority() default {};

	/**
	 * The deadline of its calls in milliseconds, unless {@code CallOptions} set another;
	 * 0 means the client's default.
	 */
	long deadlineMillis() default 0;

	/**
	 * Whether calling it twice has the same effect as once, so that a lost call may be
	 * retried.
	 */
	boolean idempotent() default false;

	/**
	 * Whether the caller goes on when the request was sent, without a reply: it does not
	 * hear how the call ends, nor whether it began. For methods that return {@code void},
	 * declare no exceptions and take no stream.
	 */
	boolean oneWay() default false;

	/**
	 * Whether the handler always runs on the thread of the loop that received the call,
	 * which saves a handoff between threads. Otherwise that is up to the server's
	 * {@code Dispatch}. A handler that takes longer than a millisecond makes the loop
	 * change its thread.
	 */
	boolean inline() default false;

}
