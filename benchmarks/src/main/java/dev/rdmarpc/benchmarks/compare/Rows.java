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

package dev.rdmarpc.benchmarks.compare;

import java.util.List;

/**
 * The result of a comparison, to look figures up in.
 *
 * @param rows one per peer and workload
 */
record Rows(List<Row> rows) {

	/** Finds a row, or one whose figures are not a number if that was not measured. */
	Row of(String peer, Mode mode, int payloadBytes) {
		Workload workload = new Workload(mode, payloadBytes);
		return this.rows.stream()
			.filter((row) -> row.peer().equals(peer) && row.workload().equals(workload))
			.findFirst()
			.orElseGet(() -> Row.missing(peer, workload));
	}

}
