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

package dev.rdmarpc.benchmarks.workloads.store;

/** What YCSB asks a store to do. */
public enum Operation {

	/** One record. */
	READ,

	/** A record in place of one that is there. */
	UPDATE,

	/** A new record. */
	INSERT,

	/** Up to a hundred records. */
	SCAN,

	/**
	 * A read and the update that follows it, each of which counts by itself as well. From
	 * the beginning of the one to the end of the other, as YCSB measures it.
	 */
	READ_MODIFY_WRITE

}
