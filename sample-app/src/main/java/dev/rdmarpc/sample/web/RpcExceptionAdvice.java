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

package dev.rdmarpc.sample.web;

import org.springframework.http.HttpStatus;
import org.springframework.http.ProblemDetail;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.RestControllerAdvice;

import dev.rdmarpc.memory.MemoryExhaustedException;
import dev.rdmarpc.rpc.RpcException;

/** Tells HTTP clients how a call failed. */
@RestControllerAdvice
class RpcExceptionAdvice {

	@ExceptionHandler
	ProblemDetail onRpcException(RpcException failure) {
		HttpStatus status = switch (failure.status()) {
			case INVALID_ARGUMENT, OUT_OF_RANGE, FAILED_PRECONDITION -> HttpStatus.BAD_REQUEST;
			case NOT_FOUND -> HttpStatus.NOT_FOUND;
			case ALREADY_EXISTS, ABORTED -> HttpStatus.CONFLICT;
			case PERMISSION_DENIED -> HttpStatus.FORBIDDEN;
			case UNAUTHENTICATED -> HttpStatus.UNAUTHORIZED;
			case RESOURCE_EXHAUSTED -> HttpStatus.TOO_MANY_REQUESTS;
			case UNIMPLEMENTED -> HttpStatus.NOT_IMPLEMENTED;
			case UNAVAILABLE -> HttpStatus.SERVICE_UNAVAILABLE;
			case DEADLINE_EXCEEDED, CANCELLED -> HttpStatus.GATEWAY_TIMEOUT;
			default -> HttpStatus.INTERNAL_SERVER_ERROR;
		};
		ProblemDetail problem = ProblemDetail.forStatusAndDetail(status, failure.detail());
		problem.setTitle(failure.status().name());
		return problem;
	}

	/** No memory to receive a large value in. */
	@ExceptionHandler
	ProblemDetail onMemoryExhausted(MemoryExhaustedException failure) {
		return ProblemDetail.forStatusAndDetail(HttpStatus.TOO_MANY_REQUESTS, String.valueOf(failure.getMessage()));
	}

}
