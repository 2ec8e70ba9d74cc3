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

/**
 * Who is told when the device of a rail goes and comes back, on a thread that may block.
 */
interface RailUser {

	/** The rail is down, and its loops are about to be closed. Must not throw. */
	void lost(Rail rail);

	/**
	 * The rail is there again. Must not throw.
	 * @return whether it is in use again, or not wanted; otherwise it is offered again
	 * later
	 */
	boolean tryReturn(Rail rail);

}
