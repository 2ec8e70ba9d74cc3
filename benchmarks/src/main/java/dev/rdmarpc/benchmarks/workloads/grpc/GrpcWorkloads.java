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

package dev.rdmarpc.benchmarks.workloads.grpc;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.logging.Level;
import java.util.logging.Logger;

import io.grpc.ManagedChannel;
import io.grpc.ManagedChannelBuilder;
import io.grpc.ServerBuilder;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.NettyServerBuilder;

import dev.rdmarpc.benchmarks.compare.grpc.SingleRail;
import dev.rdmarpc.benchmarks.workloads.peer.WorkloadPeer;
import dev.rdmarpc.benchmarks.workloads.store.AsyncReads;
import dev.rdmarpc.benchmarks.workloads.tensors.ExchangingWorker;
import dev.rdmarpc.benchmarks.workloads.tensors.Model;
import dev.rdmarpc.benchmarks.workloads.tensors.ParameterStore;
import dev.rdmarpc.benchmarks.workloads.tensors.TensorMemory;
import dev.rdmarpc.benchmarks.workloads.tensors.Worker;
import dev.rdmarpc.grpc.RdmaChannelBuilder;
import dev.rdmarpc.grpc.RdmaServerBuilder;
import dev.rdmarpc.memory.MemoryOptions;
import dev.rdmarpc.memory.RegisteredMemory;
import dev.rdmarpc.sample.store.BlobStore;
import dev.rdmarpc.sample.store.FeatureStore;
import dev.rdmarpc.sample.store.InMemoryFeatureStore;
import dev.rdmarpc.verbs.iwarp.IwarpProvider;

/**
 * The same gRPC stubs and services over either transport. Large values of the store are
 * in memory of their own on both sides, as the sample's store keeps them.
 *
 * @param rdma whether over this project's transport, or else Netty's
 * @param direct whether callbacks and handlers run on the transport's threads, or else on
 * grpc-java's default executors
 */
public record GrpcWorkloads(boolean rdma, boolean direct) implements WorkloadPeer {

	private static final int LARGEST_MESSAGE_BYTES = (64 << 20) + 4096;

	/** Warns of each stream that its caller has canceled, with a stack trace. */
	private static final Logger NETTY_LOGGER = Logger.getLogger("io.grpc.netty.NettyServerHandler");

	@Override
	public Server serve(int workers) throws IOException {
		NETTY_LOGGER.setLevel(Level.SEVERE); // missed deadlines are no reason to be slow
		InetSocketAddress address = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
		ServerBuilder<?> builder = this.rdma
				? RdmaServerBuilder.forAddress(address).transport(SingleRail.of(IwarpProvider.NAME))
				: NettyServerBuilder.forAddress(address);
		RegisteredMemory memory = RegisteredMemory.create(MemoryOptions.DEFAULTS);
		BlobStore blobs = new BlobStore(memory);
		builder.maxInboundMessageSize(LARGEST_MESSAGE_BYTES)
			.addService(new StoreGrpc.Service(new InMemoryFeatureStore(blobs), memory))
			.addService(new ParametersGrpc.Service(new ParameterStore<>(TensorMemory.ARRAYS, workers)));
		if (this.direct) {
			builder.directExecutor();
		}
		return new RunningServer(builder.build().start(), blobs, memory);
	}

	@Override
	public Client connect(List<Integer> ports) {
		return new Channels(ports.stream().map(this::open).toList(), RegisteredMemory.create(MemoryOptions.DEFAULTS));
	}

	private ManagedChannel open(int port) {
		InetSocketAddress address = new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
		ManagedChannelBuilder<?> builder = this.rdma
				? RdmaChannelBuilder.forAddress(address).transport(SingleRail.of(IwarpProvider.NAME))
				: NettyChannelBuilder.forAddress(address);
		builder.usePlaintext().maxInboundMessageSize(LARGEST_MESSAGE_BYTES);
		if (this.direct) {
			builder.directExecutor();
		}
		return builder.build();
	}

	/** Waits for something to end. */
	private interface Termination {

		boolean await(long timeout, TimeUnit unit) throws InterruptedException;

		static void await(Termination termination) {
			try {
				if (!termination.await(10, TimeUnit.SECONDS)) {
					throw new IllegalStateException("does not end");
				}
			}
			catch (InterruptedException ex) {
				Thread.currentThread().interrupt();
			}
		}

	}

	private record RunningServer(io.grpc.Server server, BlobStore blobs, RegisteredMemory memory) implements Server {

		@Override
		public int port() {
			return this.server.getPort();
		}

		@Override
		public void close() {
			this.server.shutdownNow();
			Termination.await(this.server::awaitTermination);
			this.blobs.destroy();
			WorkloadPeer.close(this.memory);
		}

	}

	private record Channels(List<ManagedChannel> channels, RegisteredMemory memory) implements Client {

		private StoreGrpc.Stub stub() {
			return StoreGrpc.newStub(this.channels.get(0), this.memory);
		}

		@Override
		public FeatureStore store() {
			return stub();
		}

		@Override
		public AsyncReads reads(Duration deadline) {
			StoreGrpc.Stub stub = stub();
			return (key) -> stub.withDeadlineAfter(deadline).getAsync(key);
		}

		@Override
		public Worker worker(Model model, int index, int workers, Duration forward) {
			return new ExchangingWorker<>(TensorMemory.ARRAYS,
					this.channels.stream().map(ParametersGrpc::newStub).toList(), model, index, workers, forward);
		}

		@Override
		public void close() {
			for (ManagedChannel channel : this.channels) {
				channel.shutdown();
				Termination.await(channel::awaitTermination);
			}
			WorkloadPeer.close(this.memory);
		}

	}

}
