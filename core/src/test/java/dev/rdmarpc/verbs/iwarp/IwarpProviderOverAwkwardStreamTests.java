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

import java.util.List;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;

import dev.rdmarpc.verbs.AbstractVerbsProviderTests;
import dev.rdmarpc.verbs.ProviderAvailability;
import dev.rdmarpc.verbs.VerbsDevice;
import dev.rdmarpc.verbs.VerbsProvider;

/**
 * The behaviour every provider must show, with something other than a TCP socket under
 * MPA: whatever a {@link ByteStream} may do, nobody above it notices.
 */
@Tag("slow")
class IwarpProviderOverAwkwardStreamTests extends AbstractVerbsProviderTests {

	@Override
	protected VerbsProvider provider() {
		return new Provider(new IwarpProvider());
	}

	/** All pieces together are some 300 KB: after that they come again. */
	@Override
	protected int largestBytes() {
		return LEAST_LARGEST_BYTES;
	}

	/** What is cut short is set aside, in views of memory that are made for it. */
	@Override
	protected boolean movesWithoutGarbage() {
		return false;
	}

	/** Opens devices with the layer under test. */
	private record Provider(IwarpProvider iwarp) implements VerbsProvider {

		@Override
		public String name() {
			return this.iwarp.name();
		}

		@Override
		public int preference() {
			return this.iwarp.preference();
		}

		@Override
		public ProviderAvailability availability() {
			return this.iwarp.availability();
		}

		@Override
		public List<String> deviceNames() {
			return this.iwarp.deviceNames();
		}

		@Override
		public VerbsDevice openDevice(@Nullable String name) {
			if (name == null || name.equals(IwarpProvider.DEVICE_NAME)) {
				return new IwarpDevice(IwarpProvider.DEVICE_NAME, IwarpOptions.DEFAULTS, AwkwardStream::new);
			}
			return this.iwarp.openDevice(name);
		}

	}

}
