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

package dev.rdmarpc.verbs.shm;

/**
 * Which peers a process trusts so far that each of them copies what it was lent out of
 * the other one's memory itself.
 */
public enum SharedMemoryTrust {

	/**
	 * None: what a peer reads, the process that owns the memory copies into the memory of
	 * the connection.
	 */
	NONE,

	/**
	 * Processes of the same user: they can open the files in which each other's
	 * registered memory lies.
	 */
	SAME_USER

}
