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

package dev.rdmarpc.grpc;

import java.util.concurrent.TimeUnit;

import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.ManagedChannel;
import io.grpc.ManagedChannelBuilder;
import io.grpc.MethodDescriptor;
import io.grpc.testing.integration.AbstractInteropTest;
import io.grpc.testing.integration.EmptyProtos;
import io.grpc.testing.integration.TestServiceGrpc;
import org.assertj.core.api.Assertions;
import org.jspecify.annotations.Nullable;
import org.junit.AfterClass;
import org.junit.BeforeClass;

import dev.rdmarpc.memory.RegisteredMemory;
import dev.rdmarpc.transport.RdmaTransport;

/**
 * gRPC's suite as a client of {@link GrpcPeerServer}, run by {@link GrpcPeerTests}; those
 * of its tests that look into a server of this process are left out.
 * <p>
 * All tests share one connection: the kernel's siw may miss the first message of a fast
 * peer, and each loss costs a time-out and a back-off.
 */
public class RemoteInteropSuite extends AbstractInteropTest {

	private static @Nullable RegisteredMemory memory;

	private static @Nullable RdmaTransport transport;

	private static @Nullable ManagedChannel shared;

	@BeforeClass
	public static void connect() {
		memory = GrpcPeerServer.memory();
		transport = GrpcPeerServer.transport(memory);
		shared = channelBuilder().build();
		TestServiceGrpc.newBlockingStub(shared)
			.withDeadlineAfter(2, TimeUnit.MINUTES)
			.withWaitForReady()
			.emptyCall(EmptyProtos.Empty.getDefaultInstance());
	}

	@AfterClass
	public static void disconnect() throws Exception {
		shared.shutdown();
		Assertions.assertThat(shared.awaitTermination(1, TimeUnit.MINUTES)).isTrue();
		transport.close();
		Assertions.assertThat(memory.metrics().outstanding()).as("outstanding buffers").isZero();
		memory.close();
	}

	private static ManagedChannelBuilder<?> channelBuilder() {
		return RdmaChannelBuilder.forAddress(GrpcPeerTests.peer())
			.transport(transport)
			.statsEnabled(false)
			.maxInboundMessageSize(MAX_MESSAGE_SIZE);
	}

	@Override
	protected ManagedChannelBuilder<?> createChannelBuilder() {
		return channelBuilder();
	}

	@Override
	protected ManagedChannel createChannel() {
		return new Lasting(shared);
	}

	/** Those of a server in another process are not to be had. */
	@Override
	protected boolean metricsExpected() {
		return false;
	}

	/** Does not end with a test. */
	private static final class Lasting extends ManagedChannel {

		private final ManagedChannel channel;

		Lasting(ManagedChannel channel) {
			this.channel = channel;
		}

		@Override
		public <Q, P> ClientCall<Q, P> newCall(MethodDescriptor<Q, P> method, CallOptions options) {
			return this.channel.newCall(method, options);
		}

		@Override
		public String authority() {
			return this.channel.authority();
		}

		@Override
		public ManagedChannel shutdown() {
			return this;
		}

		@Override
		public ManagedChannel shutdownNow() {
			return this;
		}

		@Override
		public boolean isShutdown() {
			return true;
		}

		@Override
		public boolean isTerminated() {
			return true;
		}

		@Override
		public boolean awaitTermination(long timeout, TimeUnit unit) {
			return true;
		}

	}

}
