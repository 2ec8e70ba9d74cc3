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
 * Live counters of the queue pairs of one client. Readable from any thread; each value is
 * recent, but they are not a consistent snapshot.
 */
public interface QueuePairPoolMetrics {

	/** Queue pairs that are connected. */
	int open();

	/** Minimum number of queue pairs while the client is in use. */
	int min();

	/** Maximum number of queue pairs. */
	int max();

	/** Calls that wait for their reply. */
	int outstandingCalls();

	/** Connections established so far, including reconnects. */
	long connects();

	/** Queue pairs added because the others were busy. */
	long growths();

	/** Added queue pairs closed because they were idle. */
	long shrinks();

	/** Connections lost after they had been established. */
	long losses();

	/** Calls retried because their connection was lost. */
	long repetitions();

	/** Whether calls can be made, and on as many queue pairs as there should be. */
	QueuePairPoolHealth health();

}
