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

import java.util.List;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import dev.rdmarpc.flatbuffers.FlatBuffersCodec;
import dev.rdmarpc.transport.IncomingMessage;
import dev.rdmarpc.transport.RpcChannel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatException;

/** What is left of a call that could not begin, for want of memory for example. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ServerCallTests {

	private final LoopCalls loop = new LoopCalls();

	private final ServerCalls calls = new ServerCalls(new MethodTable(List.of()), "of the test", Runnable::run,
			List.of(), 4);

	private final ServerSession session = new ServerSession(this.calls, 4);

	@Test
	void itsObjectBecomesNoOtherCalls() {
		try (RpcFixture fixture = new RpcFixture()) {
			ServerCall call = claim();
			CallContext context = contextOfOneThatCannotBegin(fixture, call);
			this.calls.notBegun(call);
			assertThat(this.calls.active()).isZero();
			assertThat(claim()).isNotSameAs(call);
			call.reset();
			assertThat(contextOfOneThatCannotBegin(fixture, call)).isNotSameAs(context);
		}
	}

	@SuppressWarnings("NullAway") // there is room for it
	private ServerCall claim() {
		return this.calls.claim(0, this.loop);
	}

	/** It has one as soon as something asks for it, such as its streams. */
	private CallContext contextOfOneThatCannotBegin(RpcFixture fixture, ServerCall call) {
		assertThat(fixture.echo.echo("connected")).isEqualTo("connected");
		RpcChannel channel = fixture.server.channels().get(0);
		MethodDescriptor method = ServiceDescriptor.of(Echo.class, new FlatBuffersCodec()).methods().get(0);
		ExportedMethod exported = ExportedMethod.of(method, fixture.service, Dispatch.EXECUTOR, List.of(), List.of());
		IncomingMessage withoutMemory = new IncomingMessage();
		assertThatException().isThrownBy(() -> call.begin(this.session, channel, exported, withoutMemory));
		return call.context();
	}

}
