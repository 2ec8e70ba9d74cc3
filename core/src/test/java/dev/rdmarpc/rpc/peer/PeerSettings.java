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

package dev.rdmarpc.rpc.peer;

import java.time.Duration;
import java.util.List;
import java.util.Locale;

import dev.rdmarpc.TestEnvironment;
import dev.rdmarpc.memory.LeakDetection;
import dev.rdmarpc.memory.MemoryOptions;
import dev.rdmarpc.memory.RegisteredMemory;
import dev.rdmarpc.transport.ChannelOptions;
import dev.rdmarpc.transport.ProviderSelection;
import dev.rdmarpc.transport.RdmaTransport;
import dev.rdmarpc.transport.TransportOptions;
import dev.rdmarpc.verbs.VerbsProvider;
import dev.rdmarpc.verbs.iwarp.CrcMode;
import dev.rdmarpc.verbs.iwarp.IwarpOptions;
import dev.rdmarpc.verbs.iwarp.IwarpProvider;

/**
 * How this side of the tests is set up: as {@link TestEnvironment} says, with
 * {@code rdma.test.peer} for where the server is (in this process if not given) and
 * {@code rdma.test.crc} for when provider iwarp asks for a CRC.
 */
final class PeerSettings {

	private PeerSettings() {
	}

	/** Where the server is, or an empty string for in this process. */
	static String peer() {
		return System.getProperty("rdma.test.peer", "");
	}

	/** So many seconds, or more on a slow machine: for what must happen. */
	static Duration seconds(int seconds) {
		return TestEnvironment.scaled(Duration.ofSeconds(seconds));
	}

	static TransportOptions transport() {
		return TransportOptions.DEFAULTS.withProvider(TestEnvironment.provider(IwarpProvider.NAME), "");
	}

	/**
	 * The usual options with the patience of the machine, but for the handshake: the
	 * kernel's siw may miss the first message of a fast peer, and then only another
	 * attempt helps.
	 */
	static ChannelOptions channel() {
		return ChannelOptions.DEFAULTS.withTimeouts(Duration.ofSeconds(5), seconds(10), seconds(30));
	}

	static RdmaTransport open(TransportOptions options, RegisteredMemory memory) {
		List<VerbsProvider> providers = ProviderSelection.discover();
		CrcMode crc = CrcMode.valueOf(System.getProperty("rdma.test.crc", "auto").toUpperCase(Locale.ROOT));
		providers.replaceAll((found) -> (found instanceof IwarpProvider)
				? new IwarpProvider(IwarpOptions.DEFAULTS.withCrc(crc)) : found);
		return RdmaTransport.open(options, ProviderSelection.select(options.provider(), providers), memory);
	}

	static RegisteredMemory memory() {
		return RegisteredMemory.create(MemoryOptions.DEFAULTS.withMaxBytes(64L << 20)
			.withInitialBytes(4L << 20)
			.withAllocationTimeout(Duration.ofSeconds(2))
			.withLeakDetection(LeakDetection.PARANOID));
	}

}
