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

/** What a {@link LoopDriver} drives. All methods are called by the driver. */
interface LoopWork {

	/**
	 * One turn: take what others have left, send, take completions, watch the time.
	 * @return whether there was anything to do
	 */
	boolean turn();

	/** When the last turn began, by {@link System#nanoTime()}. */
	long nowNanos();

	/** Posts what has been submitted. */
	void flush();

	/** Whether large messages are on their way, so that bytes are to be expected. */
	boolean expectsBytes();

	/** When the next turn is due at the latest, by {@link System#nanoTime()}. */
	long nextTickNanos();

}
