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

/**
 * A call that failed. Handlers throw it to choose the status their caller gets.
 */
public class RpcException extends RuntimeException {

	private final RpcStatus status;

	private final String detail;

	private final String service;

	private final String method;

	/** For handlers: fails the call with a status and a text for the caller. */
	public RpcException(RpcStatus status, String detail) {
		this(status, detail, "", "", null);
	}

	/**
	 * Creates the exception a caller gets.
	 * @param detail what happened, without status and method
	 */
	public RpcException(RpcStatus status, String detail, String service, String method, @Nullable Throwable cause) {
		super(text(status, detail, service, method), cause);
		if (status == RpcStatus.OK) {
			throw new IllegalArgumentException("an exception with status OK");
		}
		this.status = status;
		this.detail = detail;
		this.service = service;
		this.method = method;
	}

	private static String text(RpcStatus status, String detail, String service, String method) {
		return service.isEmpty() ? status + ": " + detail : service + "/" + method + " " + status + ": " + detail;
	}

	/** How the call ended; never {@link RpcStatus#OK}. */
	public RpcStatus status() {
		return this.status;
	}

	/** What happened, without status and method. */
	public String detail() {
		return this.detail;
	}

	/** The service called, or an empty string. */
	public String service() {
		return this.service;
	}

	/** The method called, or an empty string. */
	public String method() {
		return this.method;
	}

}
