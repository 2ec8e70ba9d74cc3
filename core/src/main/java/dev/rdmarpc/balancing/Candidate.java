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

package dev.rdmarpc.balancing;

/** One of the addresses that a call can go to. Any thread may ask. */
public interface Candidate {

	/**
	 * Host and port, as they are configured or were found: the same in all processes that
	 * know them from the same source.
	 */
	String name();

	/** Its zone, or an empty string if that is not known. May change. */
	default String zone() {
		return "";
	}

	/** Whether it is connected and takes calls now. */
	boolean isAvailable();

	/** Calls of this client to it that wait for their reply. */
	int outstandingCalls();

}
