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

import org.junit.jupiter.api.Test;

import dev.rdmarpc.codec.MessageCodec;
import dev.rdmarpc.flatbuffers.FlatBuffersCodec;

import static org.assertj.core.api.Assertions.assertThat;

/** Who is given no codec shares one with the others of its transport. */
class DefaultCodecsTests {

	@Test
	void thereIsOneForEachTransport() {
		try (RpcFixture fixture = new RpcFixture()) {
			MessageCodec ofClients = DefaultCodecs.orElse(null, fixture.clientTransport);
			assertThat(DefaultCodecs.orElse(null, fixture.clientTransport)).isSameAs(ofClients)
				.isInstanceOf(FlatBuffersCodec.class);
			assertThat(DefaultCodecs.orElse(null, fixture.serverTransport)).isNotSameAs(ofClients);
			MessageCodec own = new FlatBuffersCodec();
			assertThat(DefaultCodecs.orElse(own, fixture.clientTransport)).isSameAs(own);
		}
	}

}
