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

package dev.rdmarpc.verbs.disni;

import dev.rdmarpc.verbs.VerbsProvider;

/**
 * The behaviour suite over the RDMA adapter of this machine, as if it had no shared
 * receive queues.
 */
class DisniEmulatedReceivesTests extends DisniProviderTests {

	@Override
	protected VerbsProvider provider() {
		return new DisniProvider(true);
	}

	/**
	 * Of receives that come back flushed from a queue pair of its own, an adapter does
	 * not tell which one a message had begun to take.
	 */
	@Override
	protected boolean flushesSharedReceivesTaken() {
		return false;
	}

}
