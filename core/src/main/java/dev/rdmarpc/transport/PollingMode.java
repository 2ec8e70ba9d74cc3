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

package dev.rdmarpc.transport;

/** How a loop waits for completions. */
public enum PollingMode {

	/** Spin for ever: the lowest latency, one core per loop. */
	BUSY,

	/**
	 * Spin for about as long as replies take, as the loop measures it, then wait for an
	 * event (BPEV, the hybrid of RR-Compound, TPDS 2024, with a budget that follows the
	 * load).
	 */
	ADAPTIVE,

	/** Spin for as long as is configured, whatever comes, then wait for an event. */
	FIXED,

	/** Wait for events only: the least CPU. */
	EVENT

}
