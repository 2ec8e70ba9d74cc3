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

import dev.rdmarpc.verbs.AbstractVerbsProviderTests;
import dev.rdmarpc.verbs.VerbsProvider;

/**
 * The behaviour of a verbs provider, over shared memory between processes that trust each
 * other: what is registered lies in memory that the peer can map.
 */
class TrustedSharedMemoryProviderTests extends AbstractVerbsProviderTests {

	@Override
	protected VerbsProvider provider() {
		return new SharedMemoryProvider(SharedMemoryOptions.DEFAULTS.withTrust(SharedMemoryTrust.SAME_USER));
	}

	/** The owner of a region does not wait for peers that read it and will then fail. */
	@Override
	protected boolean stopsSendingAtOnce() {
		return false;
	}

}
