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

import java.io.IOException;
import java.net.InetAddress;

import dev.rdmarpc.TestEnvironment;
import dev.rdmarpc.verbs.AbstractVerbsProviderTests;
import dev.rdmarpc.verbs.MemoryRegion;
import dev.rdmarpc.verbs.VerbsProvider;

/** The behaviour suite over the RDMA adapter of this machine, if there is one. */
class DisniProviderTests extends AbstractVerbsProviderTests {

	@Override
	protected VerbsProvider provider() {
		return new DisniProvider();
	}

	@Override
	protected InetAddress address() {
		return TestEnvironment.address();
	}

	/** The kernel's siw notifies of every Send or of none. */
	@Override
	protected boolean notifiesOfSolicitedAlone() {
		return !isSiw();
	}

	/** The kernel's siw looks at the key, the protection domain and the bounds only. */
	@Override
	protected boolean checksPermissionToRead() {
		return !isSiw();
	}

	/** The kernel's siw looks at the region once for each segment of TCP. */
	@Override
	protected boolean stopsPlacingAtOnce() {
		return !isSiw();
	}

	@Override
	protected int[] keysToldBy(MemoryRegion region) {
		return ((DisniMemoryRegion) region).readSinkKeys();
	}

	private static boolean isSiw() {
		try {
			return AdapterLibrary.verbs().adapters().get(0).attributes().siw();
		}
		catch (IOException ex) {
			throw new IllegalStateException(ex);
		}
	}

	/** Adapters say little of what the peer refused, some nothing. */
	@Override
	protected boolean explainsFaults() {
		return false;
	}

}
