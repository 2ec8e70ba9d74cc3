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

import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

import dev.rdmarpc.logging.RateLimitedLogger;
import dev.rdmarpc.verbs.ConnectOptions;
import dev.rdmarpc.verbs.ConnectionListener;
import dev.rdmarpc.verbs.ConnectionRequest;
import dev.rdmarpc.verbs.ListenOptions;
import dev.rdmarpc.verbs.SourceAddress;
import dev.rdmarpc.verbs.VerbsException;

/**
 * Accepts connections on rails of a transport and spreads those of each over its loops in
 * turn. Limits hold for all rails together. A rail that has gone and come back is
 * listened on again, with the same port.
 */
public final class ChannelListener implements AutoCloseable {

	private static final Logger logger = LoggerFactory.getLogger(ChannelListener.class);

	private final RdmaTransport transport;

	private final ChannelOptions options;

	private final Supplier<? extends ChannelHandler> handlers;

	private final RateLimitedLogger refusals = new RateLimitedLogger(logger);

	private final AcceptedChannels accepted;

	private final Function<Rail, List<ChannelLoop>> loops;

	private final ListenOptions listenOptions;

	private final RailUser railUser = new RailUser() {

		@Override
		public void lost(Rail rail) {
			stopListening(rail);
		}

		@Override
		public boolean tryReturn(Rail rail) {
			return listenAgain(rail);
		}

	};

	/** Held to begin and to end listening on a rail. */
	private final Object listening = new Object();

	/** Those that are listened on, in the order of {@link #rails}. */
	private final Map<Rail, Open> open = new ConcurrentHashMap<>();

	private volatile List<ListeningRail> rails = List.of();

	/** With the actual port, once there is one. */
	private volatile InetSocketAddress address;

	/** Guarded by {@link #listening}. */
	private boolean closed;

	private final PeerLimits limits;

	private final ConnectionRates rates;

	private final Map<Limit, LongAdder> rejected = Arrays.stream(Limit.values())
		.collect(Collectors.toUnmodifiableMap((limit) -> limit, (limit) -> new LongAdder()));

	ChannelListener(RdmaTransport transport, Function<Rail, List<ChannelLoop>> loops, InetSocketAddress address,
			int maxConnections, PeerLimits limits, ChannelOptions options,
			Supplier<? extends ChannelHandler> handlers) {
		this.transport = transport;
		this.loops = loops;
		this.address = address;
		this.options = options;
		this.handlers = handlers;
		this.limits = limits.within(transport.memory().options().maxBytes(), options.maxMessageBytes());
		this.rates = new ConnectionRates(limits.maxConnectionsPerSecond());
		this.accepted = new AcceptedChannels(maxConnections, this.limits);
		this.listenOptions = transport.options().listenOptions(maxConnections, options);
		transport.keeper().add(this.railUser);
		try {
			synchronized (this.listening) {
				listen();
			}
		}
		catch (Throwable ex) {
			close();
			throw ex;
		}
	}

	/**
	 * Listens on the rails. Those that reach other hosts come first: one of them chooses
	 * the port, and where none of them can have it the server would not be reached by
	 * those who expect it there.
	 */
	private void listen() {
		VerbsException failure = null;
		List<Rail> ordered = new ArrayList<>(this.transport.rails());
		ordered.sort(Comparator.comparing((rail) -> !rail.reachesOtherHosts()));
		for (Rail rail : ordered) {
			if (failure != null && this.open.isEmpty() && !rail.reachesOtherHosts()) {
				throw failure;
			}
			try {
				tell(listen(rail));
			}
			catch (VerbsException ex) {
				failure = (failure != null) ? failure : ex;
				tell(new ListeningRail(rail.name(), null, String.valueOf(ex.getMessage())));
			}
		}
		if (this.open.isEmpty() && failure != null) {
			throw failure;
		}
	}

	private ListeningRail listen(Rail rail) {
		if (!rail.canProtect(this.options)) {
			return new ListeningRail(rail.name(), null, rail.name() + " cannot have TLS");
		}
		List<ChannelLoop> own = this.loops.apply(rail);
		try {
			Open opened = new Open(rail, own, this.address, this.listenOptions);
			this.open.put(rail, opened);
			this.address = opened.listener.localAddress();
			return new ListeningRail(rail.name(), this.address, "");
		}
		catch (Throwable ex) {
			own.forEach(ChannelLoop::close);
			throw ex;
		}
	}

	/** What is known of a rail from now on. */
	private void tell(ListeningRail now) {
		List<ListeningRail> all = new ArrayList<>(this.rails);
		if (all.stream().anyMatch((rail) -> rail.name().equals(now.name()))) {
			all.replaceAll((rail) -> rail.name().equals(now.name()) ? now : rail);
		}
		else {
			all.add(now);
		}
		this.rails = List.copyOf(all);
	}

	/** The rail has gone; its connections end with its loops. */
	private void stopListening(Rail rail) {
		synchronized (this.listening) {
			Open gone = this.open.remove(rail);
			if (gone == null) {
				return;
			}
			tell(new ListeningRail(rail.name(), null, String.valueOf(rail.problem())));
			try {
				gone.listener.close();
			}
			catch (RuntimeException ex) {
				logger.debug("Listener on {} was not closed in order", rail, ex);
			}
		}
	}

	/** The rail has come back; returns whether there is no more to be tried. */
	private boolean listenAgain(Rail rail) {
		synchronized (this.listening) {
			if (this.closed || this.open.containsKey(rail)) {
				return true;
			}
			try {
				ListeningRail now = listen(rail);
				tell(now);
				if (now.isListening()) {
					logger.info("Serving again over {}", now);
				}
				return true;
			}
			catch (Throwable ex) {
				tell(new ListeningRail(rail.name(), null, String.valueOf(ex.getMessage())));
				logger.debug("Not serving over {} yet", rail, ex);
				return false;
			}
		}
	}

	/** Counts a connection that is to have TLS before it costs anything. */
	private boolean mayBeginTls(InetSocketAddress remote) {
		if (this.rates.tryBegin(SourceAddress.of(remote.getAddress()), System.nanoTime())) {
			return true;
		}
		count(remote, Limit.RATE_OF_ADDRESS);
		return false;
	}

	private void onConnectionRequest(ChannelLoop loop, ConnectionRequest request) {
		if (this.options.security().tls() == null
				&& !this.rates.tryBegin(SourceAddress.of(request.remoteAddress().getAddress()), System.nanoTime())) {
			reject(request, Limit.RATE_OF_ADDRESS);
			return;
		}
		loop.executeLater(() -> accept(loop, request));
	}

	private void accept(ChannelLoop loop, ConnectionRequest request) {
		if (loop.isDraining()) {
			reject(request, "the server is shutting down");
			return;
		}
		RpcChannel channel = null;
		try {
			channel = new RpcChannel(loop, this.options, this.handlers.get(), false);
			channel.acceptedAmong(this.accepted);
			Limit reached = this.accepted.tryEnter(channel, SourceAddress.of(request.remoteAddress().getAddress()));
			if (reached != null) {
				reject(request, reached);
				return;
			}
			if (!loop.add(channel) && !(loop.evictNewcomer(channel) && loop.add(channel))) {
				this.accepted.leave(channel);
				reject(request, "no receive buffers for another connection");
				return;
			}
			accept(loop, channel, request);
		}
		catch (Throwable ex) {
			try {
				this.refusals.log(Level.WARN, "Connection from {} refused", request.remoteAddress(), ex);
				if (channel != null) {
					channel.shut(LoopFailures.reason(ex));
				}
			}
			finally {
				reject(request, "no resources for another connection");
			}
		}
	}

	private void accept(ChannelLoop loop, RpcChannel channel, ConnectionRequest request) {
		Rail rail = this.transport.railOf(loop);
		channel.attach(rail.createQueuePair(loop.resources(), channel, this.transport.options()));
		channel.accepting(request.remoteAddress(), request.peerCertificates());
		ConnectOptions connect = rail.connectOptions(this.options, this.transport.options());
		request.accept(channel.queuePair(), connect).whenComplete((info, failure) -> {
			if (failure == null) {
				loop.executeLater(() -> {
					channel.receiver().transfers().readDepth(info.readDepth());
					channel.established(info.localAddress(), info.remoteAddress());
				});
			}
			else {
				logger.debug("Connection from {} was not established", request.remoteAddress(), failure);
				loop.executeLater(() -> channel.shut("not established: " + failure.getMessage()));
			}
		});
	}

	private void reject(ConnectionRequest request, Limit reached) {
		reject(request, count(request.remoteAddress(), reached));
	}

	/** Counts a connection that is rejected; returns why it is. */
	private String count(InetSocketAddress remote, Limit reached) {
		Objects.requireNonNull(this.rejected.get(reached)).increment();
		String why = switch (reached) {
			case CONNECTIONS -> "too many connections (limit " + this.accepted.limit() + ")";
			case CONNECTIONS_OF_ADDRESS ->
				"too many connections from one address (limit " + this.limits.maxConnections() + ")";
			case RATE_OF_ADDRESS ->
				"one address connects too often (limit " + this.limits.maxConnectionsPerSecond() + "/s)";
			case CONNECTIONS_OF_PRINCIPAL ->
				throw new IllegalArgumentException("refused in the handshake, not before it");
		};
		this.accepted.suspects().rejected(remote, why);
		return why;
	}

	private static void reject(ConnectionRequest request, String why) {
		try {
			byte[] text = why.getBytes(StandardCharsets.US_ASCII);
			request.reject(Arrays.copyOf(text, Math.min(text.length, ConnectOptions.MAX_PRIVATE_DATA_BYTES)));
		}
		catch (VerbsException ex) {
			logger.debug("Connection request from {} has gone", request.remoteAddress(), ex);
		}
	}

	/** How many connections were rejected because of a limit. */
	public long rejected(Limit limit) {
		return (limit == Limit.CONNECTIONS_OF_PRINCIPAL) ? this.accepted.principals().rejected()
				: Objects.requireNonNull(this.rejected.get(limit)).sum();
	}

	/** How many connections were given up because of what their peers did, or did not. */
	public long givenUp() {
		return this.accepted.suspects().givenUp();
	}

	/**
	 * The addresses that had connections rejected or given up, first those with the most;
	 * of many those that were seen last.
	 */
	public List<SuspectPeer> suspects() {
		return this.accepted.suspects().all();
	}

	/**
	 * The address listened on, with the actual port: that of the first rail which reaches
	 * other hosts, if one does.
	 */
	public InetSocketAddress localAddress() {
		return this.address;
	}

	/** Which rails of the transport listen, first those that reach other hosts. */
	public List<ListeningRail> rails() {
		return this.rails;
	}

	/**
	 * Says what is served where, and on which rails it is not.
	 * @param log of whoever serves
	 */
	public void announce(Logger log, Object served) {
		log.info("Serving {} on {} over {}", served, localAddress(),
				this.rails.stream()
					.filter(ListeningRail::isListening)
					.map(ListeningRail::name)
					.collect(Collectors.joining(", ")));
		this.rails.stream()
			.filter((rail) -> !rail.isListening())
			.forEach((rail) -> log.info("Not serving over {}: {}", rail.name(), rail.problem()));
	}

	/** Stops accepting; channels stay. Idempotent. */
	@Override
	public void close() {
		this.transport.keeper().remove(this.railUser);
		synchronized (this.listening) {
			this.closed = true;
			this.open.values().forEach((opened) -> opened.listener.close());
		}
	}

	/** A rail listened on, and the loops of its channels. */
	private final class Open {

		private final List<ChannelLoop> loops;

		private final AtomicInteger next = new AtomicInteger();

		private final ConnectionListener listener;

		Open(Rail rail, List<ChannelLoop> loops, InetSocketAddress address, ListenOptions options) {
			this.loops = loops;
			this.listener = rail.device()
				.listen(address,
						options.withAdmission(ChannelListener.this::mayBeginTls)
							.withDropped(ChannelListener.this.accepted.suspects()::givenUp),
						(request) -> onConnectionRequest(nextLoop(), request));
		}

		private ChannelLoop nextLoop() {
			return this.loops.get(Math.floorMod(this.next.getAndIncrement(), this.loops.size()));
		}

	}

	/** Why a connection is rejected. */
	public enum Limit {

		/** There are as many as there may be. */
		CONNECTIONS,

		/** There are as many of the address as it may have. */
		CONNECTIONS_OF_ADDRESS,

		/** The address connects too often. */
		RATE_OF_ADDRESS,

		/** There are as many of the principal as it may have. */
		CONNECTIONS_OF_PRINCIPAL

	}

}
