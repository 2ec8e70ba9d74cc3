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
import java.util.Collections;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executor;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import java.util.function.UnaryOperator;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import dev.rdmarpc.codec.MessageCodec;
import dev.rdmarpc.flatbuffers.FlatBuffersCodec;
import dev.rdmarpc.transport.ChannelListener;
import dev.rdmarpc.transport.ChannelLoop;
import dev.rdmarpc.transport.ListeningRail;
import dev.rdmarpc.transport.PeerShare;
import dev.rdmarpc.transport.Rail;
import dev.rdmarpc.transport.RdmaTransport;
import dev.rdmarpc.transport.RpcChannel;
import dev.rdmarpc.transport.SuspectPeer;
import dev.rdmarpc.verbs.VerbsException;

/**
 * Serves objects to callers. <pre>
 * try (RegisteredMemory memory = RegisteredMemory.create(MemoryOptions.DEFAULTS);
 * 		RdmaTransport transport = RdmaTransport.open(TransportOptions.DEFAULTS, memory);
 * 		RpcServer server = RpcServer.builder()
 * 			.transport(transport)
 * 			.service(Greeter.class, (name) -> "Hello " + name)
 * 			.build()
 * 			.start()) {
 * 	System.out.println(server.port());
 * }
 * </pre>
 *
 * <p>
 * Thread-safe. It may be started again after it was stopped; port 0 then means another
 * port. Stopping may take long; queries do not wait for it.
 */
public final class RpcServer implements AutoCloseable {

	private static final Logger logger = LoggerFactory.getLogger(RpcServer.class);

	private static final long DRAIN_POLL_NANOS = 1_000_000;

	private static final long CANCEL_NANOS = 1_000_000_000;

	private final RdmaTransport transport;

	private volatile RpcServerOptions options;

	private final List<ServiceDescriptor> services;

	private final MethodTable methods;

	private final String codec;

	private final @Nullable Executor executor;

	private final List<CallObserver> observers;

	private final ReentrantLock lifecycle = new ReentrantLock();

	/** Held while limits change, and not while anything is waited for. */
	private final Object limits = new Object();

	private final List<ChannelLoop> loops = new CopyOnWriteArrayList<>();

	private volatile @Nullable HandlerPool pool;

	private volatile @Nullable ServerCalls calls;

	private volatile @Nullable ChannelListener listener;

	private volatile boolean running;

	private RpcServer(Builder builder) {
		this.transport = Objects.requireNonNull(builder.transport, "transport");
		this.options = builder.options;
		List<ServiceDescriptor> described = new ArrayList<>();
		List<ExportedMethod> methods = new ArrayList<>();
		List<RpcExceptionHandler> exceptionHandlers = List.copyOf(builder.exceptionHandlers);
		List<RpcServerInterceptor> interceptors = new ArrayList<>(builder.interceptors);
		if (builder.propagation != null) {
			interceptors.add(new CarryingInterceptor(builder.propagation));
		}
		Map<String, Service> offered = new LinkedHashMap<>(builder.services);
		if (builder.reflection) {
			offered.put(RdmaReflection.SERVICE, new Service(RdmaReflection.class, new ReflectedServices(described)));
		}
		builder.allowed.keySet().stream().filter((name) -> !offered.containsKey(name)).forEach((name) -> {
			throw new IllegalArgumentException("no service named " + name + ", for which callers are allowed");
		});
		offered.forEach((name, service) -> {
			ServiceDescriptor descriptor = ServiceDescriptor.of(name, service.type(), builder.codec);
			described.add(descriptor);
			descriptor.methods()
				.forEach((method) -> methods.add(ExportedMethod
					.of(method, service.target(), this.options.handlers().dispatch(), exceptionHandlers, interceptors)
					.allowing(builder.allowed.get(name))));
		});
		this.services = List.copyOf(described);
		this.methods = new MethodTable(methods);
		this.codec = CodecName.of(builder.codec);
		this.executor = builder.executor;
		this.observers = List.copyOf(builder.observers);
	}

	/** Starts building a server. */
	public static Builder builder() {
		return new Builder();
	}

	/**
	 * Starts listening.
	 * @return this
	 * @throws VerbsException if the address is in use or not one of this host
	 * @throws IllegalStateException if it is running
	 */
	public RpcServer start() {
		this.lifecycle.lock();
		try {
			if (this.running) {
				throw new IllegalStateException("the server is running already");
			}
			ChannelListener started = listen();
			this.listener = started;
			this.running = true;
			started.announce(logger, this.services.stream().map(ServiceDescriptor::name).toList());
			return this;
		}
		finally {
			this.lifecycle.unlock();
		}
	}

	private ChannelListener listen() {
		this.loops.clear();
		ServerCalls serving = newCalls();
		try {
			ChannelListener started = this.transport.listen(this.options.address(), this::startLoops,
					this.options.maxConnections(), this.options.peers(), this.options.channel(),
					() -> new ServerSession(serving, this.options.channel().maxCalls()));
			this.loops.removeIf(ChannelLoop::isClosed);
			return started;
		}
		catch (Throwable ex) {
			shutDown();
			throw ex;
		}
	}

	/** In place of those that were closed when the rail went. */
	private List<ChannelLoop> startLoops(Rail rail) {
		this.loops.removeIf(ChannelLoop::isClosed);
		String name = "rdma-rpc-server" + this.transport.suffix(rail) + "-";
		List<ChannelLoop> started = this.transport.startLoops(rail, name, this.options.loops(),
				this.options.channel().frameBytes());
		this.loops.addAll(started);
		return started;
	}

	private ServerCalls newCalls() {
		synchronized (this.limits) {
			int most = this.options.maxConcurrentCalls();
			Executor threads = this.executor;
			if (threads == null) {
				HandlerPool own = HandlerPool.of(this.options.handlers(), most);
				this.pool = own;
				threads = own;
			}
			ServerCalls serving = new ServerCalls(this.methods, this.codec, threads, this.observers, most);
			this.calls = serving;
			return serving;
		}
	}

	/**
	 * The address it listens on, with the actual port.
	 * @throws IllegalStateException unless it is running or stopping
	 */
	public InetSocketAddress address() {
		ChannelListener current = this.listener;
		if (current == null) {
			throw new IllegalStateException("the server is not running");
		}
		return current.localAddress();
	}

	/**
	 * Which rails of its transport it listens on.
	 * @throws IllegalStateException unless it is running or stopping
	 */
	public List<ListeningRail> rails() {
		ChannelListener current = this.listener;
		if (current == null) {
			throw new IllegalStateException("the server is not running");
		}
		return current.rails();
	}

	/** The port it listens on. */
	public int port() {
		return address().getPort();
	}

	/** What it listens with. */
	public RdmaTransport transport() {
		return this.transport;
	}

	/** Its settings, as changed since it was built. */
	public RpcServerOptions options() {
		return this.options;
	}

	/**
	 * Allows another number of concurrent calls, also after it was started again. Calls
	 * that are active continue.
	 * @throws IllegalArgumentException if it is less than 1
	 */
	public void maxConcurrentCalls(int calls) {
		synchronized (this.limits) {
			RpcServerOptions changed = this.options.withLimits(this.options.maxConnections(), calls);
			this.options = changed;
			ServerCalls current = this.calls;
			HandlerPool own = this.pool;
			if (current != null) {
				current.maxConcurrentCalls(calls);
			}
			if (own != null) {
				own.maxThreads(HandlerPool.threadsFor(changed.handlers(), calls));
			}
		}
	}

	/** Whether it is listening. */
	public boolean isRunning() {
		return this.running;
	}

	/** The services it offers. */
	public List<ServiceDescriptor> services() {
		return this.services;
	}

	/** The calls being executed. */
	public int activeCalls() {
		ServerCalls current = this.calls;
		return (current != null) ? current.active() : 0;
	}

	/** What it does, and how often its handlers ran where. */
	public RpcServerMetrics metrics() {
		ServerCalls current = this.calls;
		if (current == null) {
			return RpcServerMetrics.NONE;
		}
		HandlerPool own = this.pool;
		ChannelListener from = this.listener;
		return new RpcServerMetrics(current.active(), current.queue().waiting(), (own != null) ? own.threads() : 0,
				(own != null) ? own.busy() : 0, (own != null) ? own.maxThreads() : 0, current.begunOnLoops(),
				current.queue().begun(), current.moves(HandlerPace::movesToLoop),
				current.moves(HandlerPace::movesToExecutor), current.denied(), limited(current), rejections(),
				(from != null) ? from.givenUp() : 0);
	}

	/**
	 * The addresses that had connections rejected because of a limit, or given up because
	 * of what their peers did or did not do, since the server was started; first those
	 * with the most. Of more than 256 addresses, those that were seen last.
	 */
	public List<SuspectPeer> suspects() {
		ChannelListener current = this.listener;
		return (current != null) ? current.suspects() : List.of();
	}

	private static Map<PeerShare.Limit, Long> limited(ServerCalls current) {
		Map<PeerShare.Limit, Long> counts = new EnumMap<>(PeerShare.Limit.class);
		for (PeerShare.Limit limit : PeerShare.Limit.values()) {
			counts.put(limit, current.limited(limit));
		}
		return Collections.unmodifiableMap(counts);
	}

	private Map<ChannelListener.Limit, Long> rejections() {
		ChannelListener current = this.listener;
		Map<ChannelListener.Limit, Long> counts = new EnumMap<>(ChannelListener.Limit.class);
		for (ChannelListener.Limit limit : ChannelListener.Limit.values()) {
			counts.put(limit, (current != null) ? current.rejected(limit) : 0);
		}
		return Collections.unmodifiableMap(counts);
	}

	/**
	 * Why it does not serve although it runs, or {@code null}: calls wait for a thread of
	 * the executor, and for ten seconds none has got one, because all handlers block.
	 */
	public @Nullable String problem() {
		return problem(System.nanoTime());
	}

	@Nullable String problem(long nowNanos) {
		ServerCalls current = this.calls;
		Duration stuck = (current != null && this.running) ? current.queue().stuck(nowNanos) : null;
		if (current == null || stuck == null) {
			return null;
		}
		HandlerPool own = this.pool;
		return "no handler has begun on the executor for " + stuck.toSeconds() + " s; waiting calls: "
				+ current.queue().waiting() + ((own != null) ? own.heldUpBy() : "");
	}

	/** Its open connections. */
	public List<RpcChannel> channels() {
		return this.loops.stream().flatMap((loop) -> loop.channels().stream()).toList();
	}

	/** Its loops. */
	public List<ChannelLoop> loops() {
		return List.copyOf(this.loops);
	}

	/**
	 * Stops the server: accepts no new connections and calls, then waits for outstanding
	 * calls up to {@link RpcServerOptions#drainTimeout()}, then closes the remaining
	 * connections, cancels the remaining calls and gives them a moment to notice. A
	 * handler that holds up the thread of a loop is interrupted, and abandoned if it
	 * continues all the same. An interrupt does not shorten that, and is still there
	 * afterwards. Idempotent. The server can be started again even if such a handler is
	 * still running.
	 * @throws IllegalStateException if called by a handler on the thread of a loop
	 */
	public void stop() {
		// a loop that was held up by the handler has another thread by now
		ServedCall served = ServedCall.current();
		if (this.loops.stream().anyMatch(ChannelLoop::isOwnThread) || (served != null && served.isOn(this.loops))) {
			throw new IllegalStateException("a server cannot be stopped by its inline handler");
		}
		this.lifecycle.lock();
		try {
			if (this.running) {
				this.running = false;
				shutDown();
			}
		}
		finally {
			this.lifecycle.unlock();
		}
	}

	private void shutDown() {
		ChannelListener current = this.listener;
		if (current != null) {
			current.close();
		}
		this.loops.forEach(ChannelLoop::drain);
		await(() -> channels().isEmpty() && activeCalls() == 0, this.options.drainTimeout().toNanos());
		int left = activeCalls();
		if (left > 0) {
			logger.warn("{} calls were still running after {}", left, this.options.drainTimeout());
		}
		this.loops.forEach(ChannelLoop::close);
		HandlerPool own = this.pool;
		if (own != null) {
			own.close();
			this.pool = null;
		}
		ServerCalls served = this.calls;
		if (served != null) {
			served.queue().refuseAll("the server has stopped");
		}
		await(() -> activeCalls() == 0 && (own == null || own.threads() == 0), CANCEL_NANOS);
		this.listener = null;
	}

	/** An interrupt ends nothing. */
	private void await(BooleanSupplier condition, long timeoutNanos) {
		long deadline = System.nanoTime() + timeoutNanos;
		boolean interrupted = false;
		while (!condition.getAsBoolean() && System.nanoTime() - deadline < 0) {
			LockSupport.parkNanos(this, DRAIN_POLL_NANOS);
			interrupted |= Thread.interrupted();
		}
		if (interrupted) {
			Thread.currentThread().interrupt();
		}
	}

	/** Same as {@link #stop()}. */
	@Override
	public void close() {
		stop();
	}

	private record Service(Class<?> type, Object target) {

	}

	/** Builds a {@link RpcServer}. */
	public static final class Builder {

		private @Nullable RdmaTransport transport;

		private RpcServerOptions options = RpcServerOptions.DEFAULTS;

		private @Nullable Executor executor;

		private MessageCodec codec = new FlatBuffersCodec();

		private final Map<String, Service> services = new LinkedHashMap<>();

		private final Map<String, AllowedCallers> allowed = new HashMap<>();

		private final List<CallObserver> observers = new ArrayList<>();

		private final List<RpcExceptionHandler> exceptionHandlers = new ArrayList<>();

		private final List<RpcServerInterceptor> interceptors = new ArrayList<>();

		private @Nullable ContextPropagation propagation;

		private boolean reflection;

		private Builder() {
		}

		/** The transport to serve on; borrowed. */
		public Builder transport(RdmaTransport value) {
			this.transport = value;
			return this;
		}

		/** Address, limits and timeouts, in place of those set before. */
		public Builder options(RpcServerOptions value) {
			this.options = value;
			return this;
		}

		/** Address, limits and timeouts, so far. */
		public RpcServerOptions options() {
			return this.options;
		}

		/**
		 * Changes address, limits and timeouts.
		 * @param change gets those set before
		 */
		public Builder options(UnaryOperator<RpcServerOptions> change) {
			return options(change.apply(this.options));
		}

		/**
		 * Runs handlers that do not run on a loop's thread; by default the server's own
		 * executor, as {@link HandlerOptions} say. It should reject excess work: where it
		 * blocks in {@link Executor#execute}, or runs the handler there, the loop has to
		 * go on with another thread each time.
		 */
		public Builder executor(Executor value) {
			this.executor = value;
			return this;
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

		/** Adds an observer of all calls. It cannot reject calls. */
		public Builder observer(CallObserver observer) {
			this.observers.add(observer);
			return this;
		}

		/**
		 * Adds a handler of exceptions. The first one that knows an exception decides
		 * what its caller is told.
		 */
		public Builder exceptionHandler(RpcExceptionHandler handler) {
			this.exceptionHandlers.add(handler);
			return this;
		}

		/**
		 * Adds an interceptor of the calls of all services, inside those added before.
		 */
		public Builder interceptor(RpcServerInterceptor interceptor) {
			this.interceptors.add(interceptor);
			return this;
		}

		/**
		 * Carries what belongs to the thread of a handler to those that ask for the
		 * messages of a stream, or tell the subscriber to one.
		 */
		public Builder contextPropagation(ContextPropagation value) {
			this.propagation = value;
			return this;
		}

		/**
		 * Offers {@link RdmaReflection}, with which clients find the services and their
		 * schemas: for tools and tests. It tells whoever may call the server what there
		 * is to be called, so it is not offered unless asked for.
		 */
		public Builder reflection() {
			this.reflection = true;
			return this;
		}

		/** Offers an object under the name of an interface it implements. */
		public <T> Builder service(Class<T> type, T target) {
			return service(type.getName(), type, target);
		}

		/**
		 * Offers an object under a name.
		 * @throws IllegalArgumentException if the name is taken, or that of
		 * {@link RdmaReflection}
		 */
		public <T> Builder service(String name, Class<T> type, T target) {
			if (name.equals(RdmaReflection.SERVICE)) {
				throw new IllegalArgumentException(
						"a service named " + name + " (expected: another name, or reflection())");
			}
			if (this.services.putIfAbsent(name, new Service(type, target)) != null) {
				throw new IllegalArgumentException("two services named " + name);
			}
			return this;
		}

		/** The names of the services offered so far. */
		public Set<String> serviceNames() {
			Set<String> names = new LinkedHashSet<>(this.services.keySet());
			if (this.reflection) {
				names.add(RdmaReflection.SERVICE);
			}
			return names;
		}

		/**
		 * Has only some callers call a service. The calls of others are refused before
		 * they are decoded: with {@link RpcStatus#PERMISSION_DENIED}, or with
		 * {@link RpcStatus#UNAUTHENTICATED} if nobody knows who they are.
		 * @param service its name; building fails if there is no such service
		 * @param principals the names of those who may, or {@code *} for all who are
		 * known, in place of those set before
		 */
		public Builder allow(String service, Set<String> principals) {
			this.allowed.put(service, new AllowedCallers(principals));
			return this;
		}

		/** Builds the server, without starting it. */
		public RpcServer build() {
			return new RpcServer(this);
		}

	}

}
