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
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.balancing.AddressResolver;
import dev.rdmarpc.balancing.FixedAddresses;
import dev.rdmarpc.balancing.LoadBalancer;
import dev.rdmarpc.balancing.LoadBalancing;
import dev.rdmarpc.balancing.OutlierOptions;
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

	private static final double DEFAULT_HEDGING_BUDGET = 0.1;

	private final RdmaTransport transport;

	private final Runnable closing = this::close;

	private final ChannelSource channels;

	private final ClientCalls calls;

	private final ClientMethods methods = new ClientMethods();

	private final MethodSettings settings;

	private final MessageCodec codec;

	private final List<RpcClientInterceptor> interceptors;

	private RpcClient(Builder builder) {
		RdmaTransport transport = Objects.requireNonNull(builder.transport, "transport");
		this.transport = transport;
		this.codec = builder.codec;
		this.interceptors = List.copyOf(builder.interceptors);
		String codecName = CodecName.of(this.codec);
		ClientLoops loops = new ClientLoops(transport, builder.options);
		PoolFactory pools = new PoolFactory(transport, loops, codecName, builder.options, this.methods);
		this.channels = builder.channels(pools);
		this.settings = new MethodSettings(builder.methodOptions);
		this.calls = new ClientCalls(this.channels, loops, builder.options, List.copyOf(builder.observers),
				builder.propagation, this.settings,
				new Hedges(builder.hedgingBudget, builder.hedgingListener, transport.timer()));
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
		return proxy(ServiceDescriptor.of(serviceName, type, this.codec), type);
	}

	<T> T proxy(ServiceDescriptor service, Class<T> type) {
		this.settings.add(service);
		this.methods.add(service);
		this.channels.agree();
		return type.cast(new ServiceProxy(this.calls, service, this.interceptors).newProxy());
	}

	/**
	 * Calls services without having their interfaces, if the server has reflection.
	 * @throws IllegalStateException unless the codec is that of FlatBuffers
	 */
	public GenericClient generic() {
		if (this.codec instanceof FlatBuffersCodec flatBuffers) {
			return new GenericClient(this, flatBuffers);
		}
		throw new IllegalStateException("generic calls with the codec '" + this.codec.name()
				+ "' (expected: FlatBuffersCodec, whose schemas are known)");
	}

	/** Begins to connect without waiting for the first call. */
	public void connect() {
		this.channels.connect();
	}

	/** The deadline of calls without their own, but for streams; zero means none. */
	public Duration defaultDeadline() {
		return this.calls.defaultDeadline();
	}

	/**
	 * Changes the deadline of calls without their own. Calls that have begun keep theirs.
	 * @throws IllegalArgumentException if it is negative
	 */
	public void defaultDeadline(Duration deadline) {
		if (deadline.isNegative()) {
			throw new IllegalArgumentException("default deadline " + deadline + " (expected: not negative)");
		}
		this.calls.defaultDeadline(deadline);
	}

	/** The methods of all proxies in use. */
	public List<MethodDescriptor> methods() {
		return this.settings.methods();
	}

	/**
	 * Asks again for the {@linkplain Builder#methodOptions settings of single methods}.
	 * Calls that have begun keep theirs.
	 * @throws IllegalArgumentException if a method is to be hedged that cannot be;
	 * nothing has changed then
	 */
	public void refreshMethodOptions() {
		this.settings.refresh();
	}

	/** The target: its name, or {@code host:port}. */
	public String target() {
		return this.channels.target();
	}

	/** The queue pairs, and whether each of them works. */
	public List<QueuePairHealth> queuePairs() {
		return this.channels.connections()
			.stream()
			.map((connection) -> new QueuePairHealth(connection.state(), connection.outstandingCalls(),
					connection.lastFailure(), connection.rail()))
			.toList();
	}

	/**
	 * The addresses of the target, and whether each of them works: none if they are not
	 * known yet.
	 */
	public List<AddressHealth> addresses() {
		return this.channels.addresses();
	}

	/**
	 * Has a consumer told the addresses of a target that can have several, now and
	 * whenever they have changed, as long as the client exists.
	 * @param consumer gets their names as in {@link AddressHealth#address}; any thread,
	 * one at a time; does not block
	 */
	public void onAddresses(Consumer<List<String>> consumer) {
		this.channels.onAddresses(consumer);
	}

	/** The history of the queue pairs, and whether there are enough. */
	public QueuePairPoolMetrics metrics() {
		return this.channels;
	}

	/** Whether there is a connection. */
	public ConnectionState state() {
		return this.channels.state();
	}

	/** Why there is no connection, or an empty string. */
	public String lastFailure() {
		return this.channels.lastFailure();
	}

	/**
	 * Accepts no new calls and closes the connections after the outstanding ones. Calls
	 * that wait for a connection fail. Closing the transport does the same. Idempotent.
	 */
	@Override
	public void close() {
		this.transport.forget(this.closing);
		this.channels.close();
	}

	/** Builds a {@link RpcClient}. */
	public static final class Builder {

		private @Nullable RdmaTransport transport;

		private @Nullable String target;

		private @Nullable Supplier<InetSocketAddress> address;

		private List<InetSocketAddress> addresses = List.of();

		private @Nullable AddressResolver resolver;

		private LoadBalancer balancer = LoadBalancing.ROUND_ROBIN.create();

		private OutlierOptions outliers = OutlierOptions.DEFAULTS;

		private RpcClientOptions options = RpcClientOptions.DEFAULTS;

		private MessageCodec codec = new FlatBuffersCodec();

		private final List<CallObserver> observers = new ArrayList<>();

		private final List<RpcClientInterceptor> interceptors = new ArrayList<>();

		private @Nullable ContextPropagation propagation;

		private Function<MethodDescriptor, MethodOptions> methodOptions = (method) -> MethodOptions.NONE;

		private AttemptBudget hedgingBudget = new AttemptBudget(DEFAULT_HEDGING_BUDGET);

		private HedgingListener hedgingListener = HedgingListener.NONE;

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
			this.address = source;
			this.addresses = List.of();
			this.resolver = null;
			return this;
		}

		/**
		 * The location of the services, if they are at several addresses. Unresolved ones
		 * are resolved for each attempt to connect.
		 * @param name the name of the target, for messages to people
		 * @throws IllegalArgumentException if there is none
		 */
		public Builder addresses(String name, List<InetSocketAddress> all) {
			if (all.isEmpty()) {
				throw new IllegalArgumentException("no addresses of " + name + " (expected: at least one)");
			}
			this.target = name;
			this.address = null;
			this.addresses = List.copyOf(all);
			this.resolver = null;
			return this;
		}

		/**
		 * The location of the services, if they are at addresses that come and go.
		 * @param name the name of the target, for messages to people
		 * @param source knows the addresses; closed with the client
		 */
		public Builder addresses(String name, AddressResolver source) {
			if (source instanceof FixedAddresses fixed) {
				return addresses(name, fixed.all());
			}
			this.target = name;
			this.address = null;
			this.addresses = List.of();
			this.resolver = source;
			return this;
		}

		/**
		 * Which of several addresses a call goes to; in turn, unless this says otherwise.
		 * @param value for this client only, see {@link LoadBalancing}
		 */
		public Builder loadBalancer(LoadBalancer value) {
			this.balancer = value;
			return this;
		}

		/** When one of several addresses gets no calls for a while. */
		public Builder outliers(OutlierOptions value) {
			this.outliers = value;
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

		/**
		 * The message codec; both sides must use the same. Clients and servers that are
		 * given the same one share what is compiled for their types, and the limits on
		 * what they decode. Without it each has one of its own, for FlatBuffers.
		 */
		public Builder codec(MessageCodec value) {
			this.codec = value;
			return this;
		}

		/** Adds an observer of all calls. */
		public Builder observer(CallObserver observer) {
			this.observers.add(observer);
			return this;
		}

		/**
		 * Adds an interceptor of the calls of proxies, inside those added before. Those
		 * that it does not apply to are not affected.
		 */
		public Builder interceptor(RpcClientInterceptor interceptor) {
			this.interceptors.add(interceptor);
			return this;
		}

		/**
		 * Carries what belongs to the thread that makes a call to those that run what
		 * depends on its future, tell its subscriber, or ask for what it sends.
		 */
		public Builder contextPropagation(ContextPropagation value) {
			this.propagation = value;
			return this;
		}

		/**
		 * Gives single methods settings of their own.
		 * @param value asked once for each method of each proxy;
		 * {@link MethodOptions#NONE} for none
		 */
		public Builder methodOptions(Function<MethodDescriptor, MethodOptions> value) {
			this.methodOptions = value;
			return this;
		}

		/**
		 * What all calls share that are hedged, see {@link MethodOptions#hedging}.
		 * @param budget of further attempts, one for ten calls unless this says otherwise
		 * @param listener is told of them
		 */
		public Builder hedging(AttemptBudget budget, HedgingListener listener) {
			this.hedgingBudget = budget;
			this.hedgingListener = listener;
			return this;
		}

		private ChannelSource channels(PoolFactory pools) {
			String name = Objects.requireNonNull(this.target, "target");
			if (this.address != null) {
				return pools.one(name, this.address);
			}
			return (this.resolver != null) ? pools.changing(name, this.resolver, this.balancer, this.outliers)
					: pools.several(name, this.addresses, this.balancer, this.outliers);
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
