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

package dev.rdmarpc.codec;

/**
 * A method that cannot be called remotely because a type in its signature has no message
 * form. Raised when formats are compiled, at start-up.
 */
public final class UnsupportedTypeException extends CodecException {

	private final String service;

	private final String method;

	private final String path;

	private final String type;

	private final String reason;

	/**
	 * Creates an exception.
	 * @param service name of the service
	 * @param method name of the method
	 * @param path where the type is, from the parameter (or {@code result}) inwards
	 * @param type the type as it would be written in Java
	 * @param reason why it is not supported and what to use instead
	 */
	public UnsupportedTypeException(String service, String method, String path, String type, String reason) {
		super(service + "." + method + ": " + path + " has the unsupported type " + type + ": " + reason, null);
		this.service = service;
		this.method = method;
		this.path = path;
		this.type = type;
		this.reason = reason;
	}

	/** Name of the service. */
	public String service() {
		return this.service;
	}

	/** Name of the method. */
	public String method() {
		return this.method;
	}

	/** Where the type is, for example {@code order.items[].price}. */
	public String path() {
		return this.path;
	}

	/** The type as it would be written in Java. */
	public String type() {
		return this.type;
	}

	/** Why it is not supported and what to use instead. */
	public String reason() {
		return this.reason;
	}

}
