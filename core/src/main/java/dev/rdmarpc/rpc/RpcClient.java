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

import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.codec.MessageCodec;
import dev.rdmarpc.flatbuffers.FlatBuffersCodec;
import dev.rdmarpc.transport.RdmaTransport;

/**
 * Calls the services of one target. <pre>
 * try (RdmaTransport transport = RdmaTransport.open(TransportOptions.DEFAULTS, memory);
 * 		RpcClient client = RpcClient.builder().transport(transport).target("localhost", 7471).build()) {
 * 	Greeter greeter = client.proxy(Greeter.class);
 * 	greeter.greet("world");
 * }
 * </pre>
 *
 * <p>
 * Thread-safe. Connects on the first call.
 */
public final class RpcClient implements AutoCloseable {

	private final RdmaTransport transport;

	private final Runnable closing = this::close;

	private final QueuePairPool pool;

	private final ClientCalls calls;

	private final ClientMethods methods = new ClientMethods();

	private final MessageCodec codec;

	private RpcClient(Builder builder) {
		RdmaTransport transport = Objects.requireNonNull(builder.transport, "transport");
		this.transport = transport;
		this.codec = builder.codec;
		String codecName = CodecName.of(this.codec);
		String target = Objects.requireNonNull(builder.target, "target");
		Supplier<InetSocketAddress> addresses = Objects.requireNonNull(builder.addresses, "addresses");
		RpcClientOptions options = builder.options;
		ClientLoops loops = new ClientLoops(transport, options);
		this.pool = new QueuePairPool((counters) -> new ClientConnection(transport, loops.next(), target, addresses,
				codecName, options, transport.timer(), counters, this.methods), options.queuePairs(),
				transport.timer());
		this.calls = new ClientCalls(this.pool, loops, builder.options, List.copyOf(builder.observers));
		transport.beforeClose(this.closing);
	}

	/** Starts building a client. */
	public static Builder builder() {
		return new Builder();
	}

	/**
	 * A client of a service, named by its interface.
	 * @throws IllegalArgumentException if the type is not a service interface
	 * @throws dev.rdmarpc.codec.UnsupportedTypeException if a parameter or result has no
	 * message form
	 */
	public <T> T proxy(Class<T> type) {
		return proxy(type.getName(), type);
	}

	/** A client of a service with another name. */
	public <T> T proxy(String serviceName, Class<T> type) {
		ServiceDescriptor service = ServiceDescriptor.of(serviceName, type, this.codec);
		if (this.methods.add(service)) {
			this.pool.agree();
		}
		return type.cast(new ServiceProxy(this.calls, service).newProxy());
	}

	/** Begins to connect without waiting for the first call. */
	public void connect() {
		this.pool.connect();
	}

	/** The target: its name, or {@code host:port}. */
	public String target() {
		return this.pool.target();
	}

	/** The queue pairs, and whether each of them works. */
	public List<QueuePairHealth> queuePairs() {
		return this.pool.connections()
			.stream()
			.map((connection) -> new QueuePairHealth(connection.state(), connection.outstandingCalls(),
					connection.lastFailure()))
			.toList();
	}

	/** The history of the queue pairs, and whether there are enough. */
	public QueuePairPoolMetrics metrics() {
		return this.pool;
	}

	/** Whether there is a connection. */
	public ConnectionState state() {
		return this.pool.state();
	}

	/** Why there is no connection, or an empty string. */
	public String lastFailure() {
		return this.pool.lastFailure();
	}

	/**
	 * Accepts no new calls and closes the connections after the outstanding ones. Calls
	 * that wait for a connection fail. Closing the transport does the same. Idempotent.
	 */
	@Override
	public void close() {
		this.transport.forget(this.closing);
		this.pool.close();
	}

	/** Builds a {@link RpcClient}. */
	public static final class Builder {

		private @Nullable RdmaTransport transport;

		private @Nullable String target;

		private @Nullable Supplier<InetSocketAddress> addresses;

		private RpcClientOptions options = RpcClientOptions.DEFAULTS;

		private MessageCodec codec = new FlatBuffersCodec();

		private final List<CallObserver> observers = new ArrayList<>();

		private Builder() {
		}

		/** The transport for calls; borrowed. */
		public Builder transport(RdmaTransport value) {
			this.transport = value;
			return this;
		}

		/**
		 * The location of the services; the name is resolved for each attempt to connect.
		 */
		public Builder target(String targetHost, int targetPort) {
			if (targetPort < 1 || targetPort > 65535) {
				throw new IllegalArgumentException("port " + targetPort + " (expected: 1 to 65535)");
			}
			return target(targetHost + ":" + targetPort, () -> new InetSocketAddress(targetHost, targetPort));
		}

		/**
		 * The location of the services, if it may change.
		 * @param name the name of the target, for messages to people
		 * @param source returns the address for each attempt to connect; called on a
		 * separate thread, may block. If it throws, the attempt fails with the message
		 */
		public Builder target(String name, Supplier<InetSocketAddress> source) {
			this.target = name;
			this.addresses = source;
			return this;
		}

		/** Limits and timeouts, in place of those set before. */
		public Builder options(RpcClientOptions value) {
			this.options = value;
			return this;
		}

		/**
		 * Changes limits and timeouts.
		 * @param change gets those set before
		 */
		public Builder options(UnaryOperator<RpcClientOptions> change) {
			return options(change.apply(this.options));
		}

		/** The message codec; both sides must use the same. */
		public Builder codec(MessageCodec value) {
			this.codec = value;
			return this;
		}

		/** Adds an observer of all calls. */
		public Builder observer(CallObserver observer) {
			this.observers.add(observer);
			return this;
		}

		/** Builds the client. */
		public RpcClient build() {
			if (this.target == null) {
				throw new IllegalStateException("a client needs a target");
			}
			return new RpcClient(this);
		}

	}

}
