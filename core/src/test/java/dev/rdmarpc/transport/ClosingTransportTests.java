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

package dev.rdmarpc.transport;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import dev.rdmarpc.Await;
import dev.rdmarpc.memory.LeakDetection;
import dev.rdmarpc.memory.MemoryOptions;
import dev.rdmarpc.memory.RegisteredMemory;
import dev.rdmarpc.verbs.VerbsError;
import dev.rdmarpc.verbs.VerbsException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** What still asks for loops while a transport closes, or afterwards. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ClosingTransportTests {

	private static final ChannelOptions OPTIONS = ChannelOptions.DEFAULTS;

	private final RegisteredMemory memory = RegisteredMemory
		.create(MemoryOptions.DEFAULTS.withInitialBytes(0).withLeakDetection(LeakDetection.PARANOID));

	private final RdmaTransport transport = RdmaTransport.open(TransportOptions.DEFAULTS, this.memory);

	@Test
	void startsNoLoopWhileItClosesTheOthers() throws Exception {
		CompletableFuture<RpcChannel> late = new CompletableFuture<>();
		ChannelLoop loop = this.transport.startLoop("server", OPTIONS.frameBytes());
		ChannelListener listener = this.transport.listen(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
				List.of(loop), 16, OPTIONS, RecordingHandler::new);
		InetSocketAddress address = listener.localAddress();
		RpcChannel channel = this.transport.newChannel(
				this.transport.sharedLoops(this.transport.rail(), OPTIONS.frameBytes(), 1).get(0), OPTIONS,
				new RecordingHandler() {
					@Override
					public void onClosed(RpcChannel closed, String reason) {
						try {
							late.complete(connectAgain(address));
						}
						catch (VerbsException ex) {
							late.completeExceptionally(ex);
						}
					}
				});
		this.transport.connect(channel, address);
		Await.until(channel::isOpen);
		this.transport.close();
		assertThat(late).isCompletedExceptionally();
		assertNothingRuns();
		listener.close();
	}

	/** As a client does whose connection has ended, on another rail. */
	private RpcChannel connectAgain(InetSocketAddress address) {
		ChannelLoop loop = this.transport.sharedLoops(this.transport.rail(), 2 * OPTIONS.frameBytes(), 1).get(0);
		RpcChannel channel = this.transport.newChannel(loop, OPTIONS, new RecordingHandler());
		this.transport.connect(channel, address);
		return channel;
	}

	@Test
	void startsNoLoopOnceItHasClosed() {
		this.transport.close();
		assertThatThrownBy(() -> this.transport.startLoop("late", OPTIONS.frameBytes()))
			.isInstanceOfSatisfying(VerbsException.class, (ex) -> assertThat(ex.error()).isEqualTo(VerbsError.CLOSED))
			.hasMessage("the transport is closed");
		assertNothingRuns();
	}

	private void assertNothingRuns() {
		assertThat(this.transport.loops()).isEmpty();
		assertThat(this.memory.metrics().outstanding()).isZero();
		this.memory.close();
	}

}
