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

/** An interface cannot be the interface of a service. */
public final class InvalidInterfaceException extends IllegalArgumentException {

	private final String action;

	InvalidInterfaceException(String problem, String action) {
		super(problem + ": " + action);
		this.action = action;
	}

	/** What is wrong with it. */
	public String problem() {
		String message = String.valueOf(getMessage());
		return message.substring(0, message.length() - this.action.length() - 2);
	}

	/** What would resolve it. */
	public String action() {
		return this.action;
	}

}
