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

/**
 * The priority of a call, which travels with the request and holds for the reply. On one
 * connection, what is more urgent is sent, fetched and begun first, and what is less
 * urgent has its turn now and then nevertheless. Messages of streams have the priority of
 * their call.
 */
public enum Priority {

	/** Background work. */
	LOW,

	/** The default. */
	NORMAL,

	/** Urgent work. */
	HIGH;

	private static final Priority[] VALUES = values();

	/**
	 * The priority of a code from the wire; codes of newer peers count as the highest.
	 */
	public static Priority ofCode(int code) {
		return VALUES[Math.min(code & 0xFF, VALUES.length - 1)];
	}

	/** How the priority is written on the wire. */
	@SuppressWarnings("EnumOrdinal")
	public int code() {
		return ordinal();
	}

}
