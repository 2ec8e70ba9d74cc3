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

package dev.rdmarpc.verbs;

/** The visible states of a queue pair. */
public enum QueuePairState {

	/** Created; receives may be posted. */
	INITIALIZED,

	/** A connection is being set up. */
	CONNECTING,

	/** Connected; work may be posted in both directions. */
	READY_TO_SEND,

	/** An orderly disconnect is in progress: posted work is still being sent. */
	DRAINING,

	/** No longer usable; everything posted is flushed. */
	ERROR,

	/** Closed. */
	CLOSED

}
