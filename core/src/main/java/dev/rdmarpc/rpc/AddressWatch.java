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
 * Is told what becomes of the connections to an address and of the calls over them. Does
 * not block, since locks may be held. Any thread.
 */
interface AddressWatch {

	/** Nobody wants to know. */
	AddressWatch NONE = new AddressWatch() {
	};

	/** A connection was established. */
	default void connected() {
	}

	/**
	 * A connection was lost after it had been established.
	 * @param orderly whether the peer has said goodbye
	 */
	default void lost(boolean orderly) {
	}

	/** An attempt to connect has failed. */
	default void unreachable() {
	}

	/** A call was answered. */
	default void answered(int status) {
	}

}
