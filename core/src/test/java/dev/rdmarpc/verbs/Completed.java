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

/**
 * A copy of a {@link WorkCompletion}, which itself is reused.
 *
 * @param id the request's id
 * @param status how it ended
 * @param opcode what it was
 * @param byteLength bytes transferred, defined on success
 * @param invalidatedKey the key a received Send invalidated, or 0
 */
record Completed(long id, WorkStatus status, WorkOpcode opcode, long byteLength, int invalidatedKey) {

	static Completed copyOf(WorkCompletion completion) {
		return new Completed(completion.id(), completion.status(), completion.opcode(), completion.byteLength(),
				completion.invalidatedKey());
	}

	boolean isSuccess() {
		return this.status == WorkStatus.SUCCESS;
	}

}
