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
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.function.ToLongFunction;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.logging.PeerText;
import dev.rdmarpc.memory.RegisteredMemory;
import dev.rdmarpc.verbs.ConnectOptions;
import dev.rdmarpc.verbs.ConnectionInfo;
import dev.rdmarpc.verbs.VerbsDevice;
import dev.rdmarpc.verbs.VerbsError;
import dev.rdmarpc.verbs.VerbsException;

/**
 * Opened devices, called rails, with one registered memory, and the loops on them: what
 * servers and clients share.
 *
 * <p>
 * Thread-safe. Owns rails and loops; borrows the memory.
 */
public final class RdmaTransport implements AutoCloseable {

	/** What depends on futures may block, and wait for the next. */
	private static final int MOST_CALLBACK_THREADS = 1024;

	private final TransportOptions options;

	private final RegisteredMemory memory;

	private final List<Rail> rails;

	private final Rail rail;

	private final List<ChannelLoop> loops = new CopyOnWriteArrayList<>();

	/** What loops have counted that have ended; its lock is held to end one. */
	private final LoopMetrics ended = new LoopMetrics();

	private final Map<SharedLoop, ChannelLoop> sharedLoops = new ConcurrentHashMap<>();

	private final Set<Runnable> users = ConcurrentHashMap.newKeySet();

	/** Held to start a loop and to begin closing, so that closing finds all loops. */
	private final Object starting = new Object();

	private volatile boolean closed;

	private final LoopWatcher watcher = new LoopWatcher();

	private final ScheduledExecutorService timer = newTimer();

	private final ExecutorService resolver = Executors.newCachedThreadPool((task) -> {
		Thread thread = new Thread(task, "rdma-rpc-resolver");
		thread.setDaemon(true);
		return thread;
	});

	private final CallbackThreads callbacks = new CallbackThreads(MOST_CALLBACK_THREADS, this::isRunHere,
			this.resolver);

	private final RailKeeper keeper;

	private RdmaTransport(TransportOptions options, RegisteredMemory memory, List<Rail> rails) {
		this.options = options;
		this.memory = memory;
		this.rails = List.copyOf(rails);
		this.rail = rails.stream().filter(Rail::reachesOtherHosts).findFirst().orElse(rails.get(0));
		this.keeper = new RailKeeper(this.rails, this.timer, this.resolver, this::lost);
	}

	/** Its thread runs from the beginning: later there may be no memory for one. */
	private static ScheduledExecutorService newTimer() {
		ScheduledThreadPoolExecutor timer = new ScheduledThreadPoolExecutor(1, (task) -> {
			Thread thread = new Thread(task, "rdma-rpc-timer");
			thread.setDaemon(true);
			return thread;
		});
		timer.setRemoveOnCancelPolicy(true);
		timer.prestartCoreThread();
		return timer;
	}

	/**
	 * Opens a transport on providers from the class path.
	 * @param memory borrowed; must stay open longer than the transport
	 * @throws VerbsException if a provider asked for is not available
	 */
	public static RdmaTransport open(TransportOptions options, RegisteredMemory memory) {
		return open(options, ProviderSelection.selectAll(options.providers(), ProviderSelection.discover()), memory);
	}

	/**
	 * Opens a transport on a provider chosen before.
	 * @param memory borrowed; must stay open longer than the transport
	 * @throws VerbsException if the device cannot be opened
	 */
	public static RdmaTransport open(TransportOptions options, ProviderSelection selection, RegisteredMemory memory) {
		return open(options, List.of(selection), memory);
	}

	/**
	 * Opens a transport on providers chosen before.
	 * @param selections in order of preference, at least one
	 * @param memory borrowed; must stay open longer than the transport
	 * @throws VerbsException if a device cannot be opened that was asked for, or none of
	 * those that were not
	 */
	public static RdmaTransport open(TransportOptions options, List<ProviderSelection> selections,
			RegisteredMemory memory) {
		List<Rail> rails = Rail.openAll(selections, options, memory);
		try {
			RdmaTransport transport = new RdmaTransport(options, memory, rails);
			transport.keeper.start();
			return transport;
		}
		catch (Throwable ex) {
			rails.forEach(Rail::close);
			throw ex;
		}
	}

	/** What it was opened with. */
	public TransportOptions options() {
		return this.options;
	}

	/** Its rails, in order of preference. */
	public List<Rail> rails() {
		return this.rails;
	}

	/**
	 * The rail of what uses a single one: the first that reaches other hosts, else the
	 * first.
	 */
	public Rail rail() {
		return this.rail;
	}

	/** The rail that a loop was started on. */
	Rail railOf(ChannelLoop loop) {
		return this.rails.stream().filter((rail) -> rail.name().equals(loop.rail())).findFirst().orElseThrow();
	}

	/** The provider of {@link #rail()} and why it was chosen. */
	public ProviderSelection selection() {
		return this.rail.selection();
	}

	/** The device of {@link #rail()}. */
	public VerbsDevice device() {
		return this.rail.device();
	}

	/**
	 * Message bytes copied from memory to memory, here and in the provider; see
	 * {@link LoopMetrics#copiedBytes()} and {@link VerbsDevice#copiedBytes()}.
	 */
	public long copiedBytes() {
		return this.rails.stream().mapToLong(Rail::copiedBytes).sum() + total(LoopMetrics::copiedBytes);
	}

	/** The registered memory that messages live in. */
	public RegisteredMemory memory() {
		return this.memory;
	}

	/**
	 * What all loops have counted since the transport was opened, those that have ended
	 * included.
	 * @param counter of what only grows
	 */
	public long total(ToLongFunction<LoopMetrics> counter) {
		synchronized (this.ended) {
			return counter.applyAsLong(this.ended)
					+ this.loops.stream().mapToLong((loop) -> counter.applyAsLong(loop.metrics())).sum();
		}
	}

	private void ended(ChannelLoop loop) {
		synchronized (this.ended) {
			if (this.loops.remove(loop)) {
				this.ended.include(loop.metrics());
			}
		}
	}

	/** The loops that are running. */
	public List<ChannelLoop> loops() {
		return List.copyOf(this.loops);
	}

	/** Starts a loop on {@link #rail()}, see {@link #startLoop(Rail, String, int)}. */
	public ChannelLoop startLoop(String name, int frameBytes) {
		return startLoop(this.rail, name, frameBytes);
	}

	/**
	 * Starts a loop, which belongs to the caller and is closed with the transport at the
	 * latest.
	 * @param rail of this transport, whose completions it takes
	 * @param name of its thread
	 * @param frameBytes size of its receive buffers
	 * @throws VerbsException with {@link VerbsError#CLOSED} if the transport is closed,
	 * with {@link VerbsError#UNAVAILABLE} if the rail is down
	 */
	public ChannelLoop startLoop(Rail rail, String name, int frameBytes) {
		synchronized (this.starting) {
			if (this.closed) {
				throw new VerbsException(VerbsError.CLOSED, "the transport is closed");
			}
			String problem = rail.problem();
			if (problem != null) {
				throw new VerbsException(VerbsError.UNAVAILABLE, problem);
			}
			return newLoop(rail, name, frameBytes);
		}
	}

	/**
	 * Starts several loops, or none.
	 * @param name of their threads, before a number
	 * @throws VerbsException as when one of them is started
	 */
	public List<ChannelLoop> startLoops(Rail rail, String name, int count, int frameBytes) {
		List<ChannelLoop> started = new ArrayList<>();
		try {
			for (int i = 0; i < count; i++) {
				started.add(startLoop(rail, name + i, frameBytes));
			}
			return started;
		}
		catch (Throwable ex) {
			started.forEach(ChannelLoop::close);
			throw ex;
		}
	}

	private ChannelLoop newLoop(Rail rail, String name, int frameBytes) {
		LoopResources resources = LoopResources.open(rail, this.memory, this.options, frameBytes);
		try {
			ChannelLoop loop = new ChannelLoop(name, resources, this.options.polling(), this.watcher, this::ended);
			this.loops.add(loop);
			return loop;
		}
		catch (Throwable ex) {
			resources.close();
			throw ex;
		}
	}

	/**
	 * What does not run and should, one sentence each that names it; empty if all is
	 * well. Rails that are down are among it if nothing takes their place: none that
	 * reaches other hosts is running, where there is one. Does not wait for what does not
	 * run.
	 */
	public List<String> problems() {
		List<String> problems = new ArrayList<>();
		boolean replaced = this.rails.stream()
			.anyMatch((any) -> any.isRunning() && any.reachesOtherHosts() == this.rail.reachesOtherHosts());
		if (!replaced) {
			this.rails.stream().map(Rail::problem).filter(Objects::nonNull).forEach(problems::add);
		}
		for (ChannelLoop loop : this.loops) {
			String problem = loop.problem();
			if (problem != null) {
				problems.add("loop " + loop.name() + " " + problem);
			}
		}
		return problems;
	}

	/** Closes what is on a rail whose device has gone. Waits for it. */
	private void lost(Rail lost) {
		synchronized (this.starting) {
			if (this.closed) {
				return;
			}
			lost.lost();
		}
		try {
			this.keeper.tellLost(lost);
			this.sharedLoops.keySet().removeIf((key) -> key.rail() == lost);
		}
		finally {
			try {
				RailKeeper.each(this.loops.stream().filter((loop) -> loop.isOn(lost.name())).toList(),
						ChannelLoop::close);
			}
			finally {
				lost.closeLost();
			}
		}
	}

	/** Who is told when rails go and come back. */
	RailKeeper keeper() {
		return this.keeper;
	}

	/**
	 * The loops that clients share, on each rail and for each frame size as many as the
	 * client with the most of them asks for; they belong to the transport.
	 * @param count how many, at least 1
	 * @throws VerbsException with {@link VerbsError#CLOSED} if the transport is closed,
	 * or {@link VerbsError#UNAVAILABLE} if the rail is down, and one of them was not
	 * started before
	 */
	public List<ChannelLoop> sharedLoops(Rail rail, int frameBytes, int count) {
		return IntStream.range(0, count)
			.mapToObj((i) -> this.sharedLoops.compute(new SharedLoop(rail, frameBytes, i),
					(key, known) -> (known != null && !known.isClosed()) ? known
							: startLoop(rail, key.name() + suffix(rail), frameBytes)))
			.toList();
	}

	/** What the names of loops on a rail end with: nothing where it needs no saying. */
	public String suffix(Rail of) {
		return (of == this.rail) ? "" : "-" + of.name();
	}

	/** A thread for what is to be done later; nothing that runs on it may block. */
	public ScheduledExecutorService timer() {
		return this.timer;
	}

	/**
	 * Threads for what may block before a connection is tried, such as resolving names.
	 */
	public Executor resolver() {
		return this.resolver;
	}

	/**
	 * Runs users' code that depends on futures where the loop's thread cannot, see
	 * {@link CallbackThreads}.
	 */
	public void runCallback(Runnable task) {
		this.callbacks.execute(task);
	}

	/** A loop's thread that has left the driver role is replaced if that takes long. */
	private boolean isRunHere() {
		return this.loops.stream().anyMatch((loop) -> loop.isOwnThread() && !loop.isDriver());
	}

	/**
	 * Lets a user of the transport end what it does before the transport closes, whose
	 * timer brings nothing about any more then.
	 * @param end called once or twice, at once if the transport is closed; must not throw
	 */
	public void beforeClose(Runnable end) {
		this.users.add(end);
		if (this.closed) {
			end.run();
		}
	}

	/** Takes back what was given to {@link #beforeClose}. */
	public void forget(Runnable end) {
		this.users.remove(end);
	}

	/** The rails on which channels can be protected as asked, in order of preference. */
	public List<Rail> rails(ChannelOptions channelOptions) {
		return this.rails.stream().filter((rail) -> rail.canProtect(channelOptions)).toList();
	}

	/**
	 * Checks that channels can be protected as asked.
	 * @throws VerbsException with {@link VerbsError#INVALID_ARGUMENT} if TLS is asked for
	 * and no provider can have it
	 */
	public void checkSecurity(ChannelOptions channelOptions) {
		if (rails(channelOptions).isEmpty()) {
			throw new VerbsException(VerbsError.INVALID_ARGUMENT, "provider "
					+ this.rails.stream().map(Rail::name).collect(Collectors.joining(", "))
					+ " cannot protect connections with TLS (expected: provider iwarp, or no TLS and a network that is"
					+ " protected by itself, by IPsec or MACsec for example)");
		}
	}

	/** Makes a channel that is yet to be {@linkplain #connect connected}. */
	public RpcChannel newChannel(ChannelLoop loop, ChannelOptions channelOptions, ChannelHandler handler) {
		return new RpcChannel(loop, channelOptions, handler, true);
	}

	/**
	 * Connects a new channel; its handler hears of the outcome.
	 * @param remote the resolved address
	 */
	public void connect(RpcChannel channel, InetSocketAddress remote) {
		connect(channel, remote, "");
	}

	/**
	 * Connects a new channel; its handler hears of the outcome.
	 * @param remote the resolved address
	 * @param target what the caller calls the peer, see {@link ConnectOptions#target()}
	 */
	public void connect(RpcChannel channel, InetSocketAddress remote, String target) {
		channel.loop().executeLater(() -> startConnecting(channel.loop(), channel, remote, target));
	}

	private void startConnecting(ChannelLoop loop, RpcChannel channel, InetSocketAddress remote, String target) {
		if (channel.state() != ChannelState.CONNECTING) {
			return;
		}
		try {
			if (!loop.add(channel)) {
				channel.shut("no receive buffers for another connection");
				return;
			}
			Rail used = railOf(loop);
			channel.attach(used.createQueuePair(loop.resources(), channel, this.options));
			channel.connecting();
			ConnectOptions connect = used.connectOptions(channel.options(), this.options).withTarget(target);
			used.device()
				.connect(channel.queuePair(), remote, connect)
				.whenComplete((info, failure) -> connected(loop, channel, info, failure));
		}
		catch (VerbsException ex) {
			channel.shut(String.valueOf(ex.getMessage()));
		}
		catch (Throwable ex) {
			loop.failed(channel, ex);
		}
	}

	/** An attempt is over; any thread, which needs no memory to say so. */
	private static void connected(ChannelLoop loop, RpcChannel channel, ConnectionInfo info,
			@Nullable Throwable failure) {
		try {
			String problem = (failure != null) ? describe(failure) : null;
			loop.executeLater(() -> {
				if (problem != null) {
					channel.shut(problem);
					return;
				}
				channel.receiver().transfers().readDepth(info.readDepth());
				channel.established(info.localAddress(), info.remoteAddress());
			});
		}
		catch (Throwable ex) {
			channel.close(LoopFailures.INTERNAL);
		}
	}

	/** What a peer has said of it in one line, whoever that was. */
	static String describe(Throwable failure) {
		Throwable cause = (failure instanceof CompletionException && failure.getCause() != null) ? failure.getCause()
				: failure;
		String text = String.valueOf(cause.getMessage());
		if (cause instanceof VerbsException verbs && verbs.privateData().length > 0) {
			text += ": " + PeerText.oneLine(new String(verbs.privateData(), StandardCharsets.US_ASCII));
		}
		return text;
	}

	/**
	 * Listens for channels, on the rails that the loops are on, with the same port.
	 * @param address port 0 lets the system choose
	 * @param channelLoops the loops that drive accepted channels, those of each rail in
	 * turn
	 * @param handlers makes the handler of each channel
	 * @throws VerbsException if the address is taken or not of this host
	 */
	public ChannelListener listen(InetSocketAddress address, List<ChannelLoop> channelLoops, int maxConnections,
			ChannelOptions channelOptions, Supplier<? extends ChannelHandler> handlers) {
		return listen(address, channelLoops, maxConnections, PeerLimits.NONE, channelOptions, handlers);
	}

	/**
	 * Listens for channels, and limits what the peers of one address get.
	 * @throws VerbsException if the address is taken or not of this host
	 */
	public ChannelListener listen(InetSocketAddress address, List<ChannelLoop> channelLoops, int maxConnections,
			PeerLimits limits, ChannelOptions channelOptions, Supplier<? extends ChannelHandler> handlers) {
		return listen(address, (on) -> channelLoops.stream().filter((loop) -> loop.isOn(on.name())).toList(),
				maxConnections, limits, channelOptions, handlers);
	}

	/**
	 * Listens for channels, also on rails that come back.
	 * @param loops starts the loops that drive in turn what is accepted on a rail, when
	 * it begins to be listened on and each time that it has come back; none to leave it
	 * out. They belong to the caller, but are closed if the rail cannot be listened on,
	 * or goes
	 * @throws VerbsException if the address is taken or not of this host
	 */
	public ChannelListener listen(InetSocketAddress address, Function<Rail, List<ChannelLoop>> loops,
			int maxConnections, PeerLimits limits, ChannelOptions channelOptions,
			Supplier<? extends ChannelHandler> handlers) {
		checkSecurity(channelOptions);
		return new ChannelListener(this, loops, address, maxConnections, limits, channelOptions, handlers);
	}

	/**
	 * Closes its users, loops and devices. Idempotent.
	 * @throws IllegalStateException if called by what runs on one of the loops
	 */
	@Override
	public void close() {
		if (this.loops.stream().anyMatch(ChannelLoop::isOwnThread)) {
			throw new IllegalStateException("a transport cannot be closed by what runs on its loop");
		}
		synchronized (this.starting) {
			this.closed = true;
		}
		try {
			this.users.forEach(Runnable::run);
			this.timer.shutdownNow();
			this.resolver.shutdownNow();
			this.loops.forEach(ChannelLoop::close);
		}
		finally {
			this.watcher.close();
			closeRails();
			this.callbacks.close();
		}
	}

	/** The last one also where closing another fails. */
	private void closeRails() {
		RuntimeException failure = null;
		for (Rail closing : this.rails) {
			try {
				closing.close();
			}
			catch (RuntimeException ex) {
				failure = ex;
			}
		}
		if (failure != null) {
			throw failure;
		}
	}

	/**
	 * Which of the loops that clients share.
	 *
	 * @param rail whose completions it takes
	 * @param frameBytes size of its receive buffers
	 * @param number from 0
	 */
	private record SharedLoop(Rail rail, int frameBytes, int number) {

		String name() {
			return "rdma-rpc-client-" + this.frameBytes + ((this.number > 0) ? "-" + this.number : "");
		}

	}

}
