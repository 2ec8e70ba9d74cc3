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

package dev.rdmarpc.verbs.iwarp;

import org.junit.jupiter.api.Tag;

import dev.rdmarpc.verbs.AbstractVerbsProviderTests;
import dev.rdmarpc.verbs.VerbsProvider;

/**
 * The behaviour every provider must show, with TLS under MPA on a stream that gives and
 * takes as little as it may.
 */
@Tag("slow")
class IwarpProviderOverAwkwardTlsTests extends AbstractVerbsProviderTests {

	@Override
	protected VerbsProvider provider() {
		return new TlsProvider(new IwarpProvider(), AwkwardStream::new);
	}

	/** All pieces together are some 300 KB: after that they come again. */
	@Override
	protected int largestBytes() {
		return LEAST_LARGEST_BYTES;
	}

	/** The JDK's TLS allocates for each record. */
	@Override
	protected boolean movesWithoutGarbage() {
		return false;
	}

}
