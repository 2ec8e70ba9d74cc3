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

package dev.rdmarpc.boot.test.faults;

import java.time.Duration;
import java.util.Set;

import dev.rdmarpc.verbs.AbstractVerbsProviderTests;
import dev.rdmarpc.verbs.VerbsProvider;
import dev.rdmarpc.verbs.iwarp.IwarpProvider;

/** A rail on which everything is late is still one of verbs. */
class FaultProviderTests extends AbstractVerbsProviderTests {

	private final RdmaFaults faults = new RdmaFaults(1, Set::of);

	@Override
	protected VerbsProvider provider() {
		this.faults.delay("", Duration.ZERO, Duration.ofNanos(100_000));
		return new FaultProvider(new IwarpProvider(), this.faults);
	}

	/** Completions that are held back are objects. */
	@Override
	protected boolean movesWithoutGarbage() {
		return false;
	}

}
