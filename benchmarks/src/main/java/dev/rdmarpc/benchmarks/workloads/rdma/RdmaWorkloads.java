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

package dev.rdmarpc.benchmarks.workloads.rdma;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import dev.rdmarpc.benchmarks.workloads.peer.WorkloadPeer;
import dev.rdmarpc.benchmarks.workloads.store.AsyncReads;
import dev.rdmarpc.benchmarks.workloads.tensors.ExchangingWorker;
import dev.rdmarpc.benchmarks.workloads.tensors.Model;
import dev.rdmarpc.benchmarks.workloads.tensors.ParameterCalls;
import dev.rdmarpc.benchmarks.workloads.tensors.ParameterStore;
import dev.rdmarpc.benchmarks.workloads.tensors.TensorMemory;
import dev.rdmarpc.benchmarks.workloads.tensors.Worker;
import dev.rdmarpc.memory.MemoryOptions;
import dev.rdmarpc.memory.RegisteredBuffer;
import dev.rdmarpc.memory.RegisteredMemory;
import dev.rdmarpc.rpc.CallOptions;
import dev.rdmarpc.rpc.Priority;
import dev.rdmarpc.rpc.RpcClient;
import dev.rdmarpc.rpc.RpcClientOptions;
import dev.rdmarpc.rpc.RpcServer;
import dev.rdmarpc.rpc.RpcServerOptions;
import dev.rdmarpc.sample.store.BlobStore;
import dev.rdmarpc.sample.store.FeatureStore;
import dev.rdmarpc.sample.store.InMemoryFeatureStore;
import dev.rdmarpc.transport.ChannelOptions;
import dev.rdmarpc.transport.RdmaTransport;
import dev.rdmarpc.transport.TransportOptions;
import dev.rdmarpc.verbs.iwarp.IwarpProvider;

/**
 * This framework with its default options, except for limits that let the largest tensor
 * pass. Of methods nothing is declared but what the sample's interface of the store
 * declares; all other priorities are those of calls.
 *
 * @param registered whether tensors are in registered memory, or else in arrays
 * @param priorities whether gets with a deadline and the tensors that are needed first
 * are urgent, and all other calls of the store and the tensors that are needed last are
 * background work
 */
public record RdmaWorkloads(boolean registered, boolean priorities) implements WorkloadPeer {

	private static final MemoryOptions MEMORY = MemoryOptions.DEFAULTS.withMaxBytes(1024L << 20);

	private static final ChannelOptions CHANNEL = ChannelOptions.DEFAULTS.withLimits((64 << 20) + 4096,
			ChannelOptions.DEFAULTS.maxCalls());

	private static final String STORE = "store";

	private static final String ARRAYS = "parameters";

	private static final String REGISTERED = "registered-parameters";

	@Override
	public Server serve(int workers) {
		Resources resources = Resources.open();
		ParameterStore<byte[]> arrays = new ParameterStore<>(TensorMemory.ARRAYS, workers);
		ParameterStore<RegisteredBuffer> tensors = new ParameterStore<>(new RegisteredTensors(resources.memory()),
				workers);
		BlobStore blobs = new BlobStore(resources.memory());
		RpcServer server = RpcServer.builder()
			.transport(resources.transport())
			.options(RpcServerOptions.DEFAULTS.withLoopback(0).withChannel(CHANNEL))
			.service(STORE, FeatureStore.class, new InMemoryFeatureStore(blobs))
			.service(ARRAYS, ArrayParameters.class, new ArrayHandler(arrays))
			.service(REGISTERED, RegisteredParameters.class, new RegisteredHandler(tensors))
			.build()
			.start();
		return new RunningServer(server, blobs, tensors, resources);
	}

	@Override
	public Client connect(List<Integer> ports) {
		Resources resources = Resources.open();
		List<RpcClient> clients = ports.stream()
			.map((port) -> RpcClient.builder()
				.transport(resources.transport())
				.target("127.0.0.1", port)
				.options(RpcClientOptions.DEFAULTS.withChannel(CHANNEL).withWaitForReady(true))
				.build())
			.toList();
		return new Proxies(clients, resources, this.registered, this.priorities);
	}

	private record ArrayHandler(ParameterStore<byte[]> store) implements ArrayParameters {

		@Override
		public CompletableFuture<Integer> push(int step, int tensor, byte[] gradient) {
			return this.store.push(step, tensor, gradient);
		}

		@Override
		public CompletableFuture<byte[]> pull(int step, int tensor) {
			return this.store.pull(step, tensor);
		}

	}

	private record RegisteredHandler(ParameterStore<RegisteredBuffer> store) implements RegisteredParameters {

		@Override
		public CompletableFuture<Integer> push(int step, int tensor, RegisteredBuffer gradient) {
			return this.store.push(step, tensor, gradient);
		}

		@Override
		public CompletableFuture<RegisteredBuffer> pull(int step, int tensor) {
			return this.store.pull(step, tensor);
		}

	}

	/** What clients and servers of a process share. */
	private record Resources(RdmaTransport transport, RegisteredMemory memory) {

		static Resources open() {
			RegisteredMemory memory = RegisteredMemory.create(MEMORY);
			return new Resources(
					RdmaTransport.open(TransportOptions.DEFAULTS.withProvider(IwarpProvider.NAME, ""), memory), memory);
		}

		/** Closes both, after what used them. */
		void close() {
			this.transport.close();
			WorkloadPeer.close(this.memory);
		}

	}

	private record RunningServer(RpcServer server, BlobStore blobs, ParameterStore<RegisteredBuffer> tensors,
			Resources resources) implements Server {

		@Override
		public int port() {
			return this.server.port();
		}

		@Override
		public void close() {
			this.server.close();
			this.blobs.destroy();
			this.tensors.close();
			this.resources.close();
		}

	}

	private record Proxies(List<RpcClient> clients, Resources resources, boolean registered,
			boolean priorities) implements Client {

		@Override
		public FeatureStore store() {
			FeatureStore store = this.clients.get(0).proxy(STORE, FeatureStore.class);
			return this.priorities ? CallOptions.NONE.withPriority(Priority.LOW).on(store) : store;
		}

		@Override
		public AsyncReads reads(Duration deadline) {
			CallOptions options = CallOptions.deadline(deadline);
			return (this.priorities ? options.withPriority(Priority.HIGH) : options)
				.on(this.clients.get(0).proxy(STORE, FeatureStore.class))::getAsync;
		}

		@Override
		public RegisteredMemory memory() {
			return this.resources.memory();
		}

		@Override
		public Worker worker(Model model, int index, int workers, Duration forward) {
			if (this.registered) {
				return new ExchangingWorker<>(new RegisteredTensors(this.resources.memory()),
						parameters(model, REGISTERED, RegisteredParameters.class), model, index, workers, forward);
			}
			return new ExchangingWorker<>(TensorMemory.ARRAYS, parameters(model, ARRAYS, ArrayParameters.class), model,
					index, workers, forward);
		}

		private <T, P extends ParameterCalls<T>> List<? extends ParameterCalls<T>> parameters(Model model,
				String service, Class<P> type) {
			List<P> proxies = this.clients.stream().map((client) -> client.proxy(service, type)).toList();
			return this.priorities ? proxies.stream().map((proxy) -> ParametersByNeed.of(model, proxy)).toList()
					: proxies;
		}

		@Override
		public void close() {
			this.clients.forEach(RpcClient::close);
			this.resources.close();
		}

	}

}
