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

import java.util.Map;
import java.util.WeakHashMap;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.codec.MessageCodec;
import dev.rdmarpc.flatbuffers.FlatBuffersCodec;
import dev.rdmarpc.transport.RdmaTransport;

/**
 * The codec of clients and servers that were given none: one for all of a transport, so
 * that each further client finds its types compiled, by the codec and by the just-in-time
 * compiler. It is kept as long as the transport. Thread-safe.
 */
final class DefaultCodecs {

	private static final Map<RdmaTransport, MessageCodec> CODECS = new WeakHashMap<>();

	private DefaultCodecs() {
	}

	/** What was given, or else the transport's. */
	static MessageCodec orElse(@Nullable MessageCodec given, RdmaTransport transport) {
		if (given != null) {
			return given;
		}
		synchronized (CODECS) {
			return CODECS.computeIfAbsent(transport, (key) -> new FlatBuffersCodec());
		}
	}

}
