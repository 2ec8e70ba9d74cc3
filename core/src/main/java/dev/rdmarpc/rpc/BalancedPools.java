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
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

import dev.rdmarpc.balancing.Candidate;
import dev.rdmarpc.balancing.LoadBalancer;
import dev.rdmarpc.logging.FailureText;
import dev.rdmarpc.logging.RateLimitedLogger;
import dev.rdmarpc.transport.RpcChannel;

/**
 * The connections of a client to a target with several addresses, which may come and go.
 * The load balancer decides which of them a call goes to; if that is not available, it
 * goes to any other.
 *
 * <p>
 * Thread-safe.
 *
 * <p>
 * Implementation notes. The list of addresses is replaced, never changed, so that picking
 * takes no lock. The lock guards replacing it. A call that waits for a connection is in
 * {@code waits} before it looks at the list, and the list is replaced before
 * {@code waits} is looked at, so that no call misses an address. An address that is none
 * any more is closed after it has left the list: a call that has just picked it finds it
 * draining, and is made again elsewhere, since it was never sent.
 */
final class BalancedPools implements ChannelSource {

	/** The most addresses that are used of a target. */
	static final int MOST_ADDRESSES = 1024;

	private static final Logger logger = LoggerFactory.getLogger(BalancedPools.class);

	private static final RateLimitedLogger failures = new RateLimitedLogger(logger);

	private static final int MOST_FAILURES_TOLD = 3;

	private final String target;

	private final BiFunction<BalancedPools, InetSocketAddress, AddressPool> factory;

	private final LoadBalancer balancer;

	private final PoolCounters counters;

	private final QueuePairPoolOptions options;

	private final @Nullable AddressRefresh refresh;

	private volatile List<AddressPool> current = List.of();

	private final Set<ChannelWait> waits = ConcurrentHashMap.newKeySet();

	/** With what each was told last. */
	private final IdentityHashMap<Consumer<List<String>>, List<String>> consumers = new IdentityHashMap<>();

	private @Nullable ChannelWait readyWait;

	/** As far as addresses are concerned that were those of the target once. */
	private volatile long restartingUntilNanos = System.nanoTime();

	private volatile boolean used;

	private volatile boolean closed;

	/**
	 * Creates the pools, which do not connect yet.
	 * @param factory makes the queue pairs to an address
	 * @param counters what the pools of all addresses count with
	 * @param refresh makes what asks for the addresses, or is {@code null} if they never
	 * change
	 */
	BalancedPools(String target, LoadBalancer balancer,
			BiFunction<BalancedPools, InetSocketAddress, AddressPool> factory, PoolCounters counters,
			QueuePairPoolOptions options, @Nullable Function<BalancedPools, AddressRefresh> refresh) {
		this.target = target;
		this.factory = factory;
		this.balancer = balancer;
		this.counters = counters;
		this.options = options;
		this.refresh = (refresh != null) ? refresh.apply(this) : null;
	}

	@Override
	public @Nullable RpcChannel openChannel(long key) {
		List<AddressPool> all = this.current;
		int picked = pick(all, key);
		if (picked >= 0 && picked < all.size()) {
			RpcChannel channel = all.get(picked).queuePairs().openChannel(key);
			if (channel != null) {
				return channel;
			}
		}
		RpcChannel other = any(all, true);
		return (other != null) ? other : any(all, false);
	}

	@Override
	public @Nullable RpcChannel openChannel(long key, List<RpcChannel> used) {
		List<AddressPool> all = this.current;
		List<? extends Candidate> candidates = all.stream()
			.map((pool) -> pool.isUsedBy(used) ? new UsedAddress(pool) : pool)
			.toList();
		int picked = pick(candidates, key);
		RpcChannel channel = (picked >= 0 && picked < all.size() && candidates.get(picked) instanceof AddressPool pool)
				? pool.queuePairs().openChannel(key) : null;
		if (channel == null) {
			channel = any(
					candidates.stream().filter(AddressPool.class::isInstance).map(AddressPool.class::cast).toList(),
					true);
		}
		return (channel != null) ? channel : openChannel(key);
	}

	private int pick(List<? extends Candidate> all, long key) {
		if (all.isEmpty()) {
			return LoadBalancer.NONE;
		}
		try {
			return this.balancer.pick(all, key);
		}
		catch (RuntimeException ex) {
			failures.log(Level.WARN, "The load balancer of '{}' has failed; calls go to any address: {}", this.target,
					FailureText.of(ex));
			return LoadBalancer.NONE;
		}
	}

	/** If none is available, one that is left out for its failures has to do. */
	private static @Nullable RpcChannel any(List<AddressPool> all, boolean available) {
		int from = all.isEmpty() ? 0 : ThreadLocalRandom.current().nextInt(all.size());
		for (int n = 0; n < all.size(); n++) {
			AddressPool pool = all.get((from + n) % all.size());
			RpcChannel channel = (!available || pool.isAvailable()) ? pool.queuePairs().openChannel(LoadBalancer.NO_KEY)
					: null;
			if (channel != null) {
				return channel;
			}
		}
		return null;
	}

	@Override
	public boolean keys() {
		return this.balancer.usesKeys();
	}

	@Override
	public boolean observes() {
		return true;
	}

	@Override
	public CompletableFuture<RpcChannel> channel(boolean waitForReady) {
		use();
		if (!waitForReady) {
			return begin(newWait(false));
		}
		ChannelWait wait;
		CompletableFuture<RpcChannel> waiter;
		synchronized (this) {
			wait = readyWait();
			waiter = wait.waiter();
		}
		begin(wait);
		return waiter;
	}

	private ChannelWait newWait(boolean forReady) {
		return new ChannelWait(forReady, this::exhausted, this::abandoned);
	}

	private ChannelWait begin(ChannelWait wait) {
		if (this.waits.add(wait)) {
			wait.whenComplete((channel, failure) -> this.waits.remove(wait));
		}
		wait.follow(this.current);
		if (this.closed) {
			wait.completeExceptionally(closed());
		}
		return wait;
	}

	private ChannelWait readyWait() {
		ChannelWait wait = this.readyWait;
		if (wait == null || wait.isDone()) {
			wait = newWait(true);
			this.readyWait = wait;
		}
		else {
			this.current.forEach((pool) -> pool.queuePairs().connect());
		}
		return wait;
	}

	/** Addresses are tried less often when nobody waits for them. */
	private void abandoned(ChannelWait wait) {
		synchronized (this) {
			if (wait.isShared()) {
				return;
			}
			if (this.readyWait == wait) {
				this.readyWait = null;
			}
		}
		wait.cancel(false);
	}

	private void use() {
		this.used = true;
		if (this.refresh != null && (!this.refresh.isStarted() || this.current.isEmpty())) {
			this.refresh.start();
		}
	}

	/** Nothing can come of the addresses that a call has waited for. */
	private void exhausted(ChannelWait wait) {
		if (this.closed) {
			wait.completeExceptionally(closed());
			return;
		}
		List<AddressPool> known = this.current;
		if (!wait.follow(known) && !wait.isForReady() && !known.isEmpty()) {
			wait.completeExceptionally(unavailable(wait.status()));
		}
	}

	/**
	 * The resolver has answered.
	 * @param zones knows the zone of each address
	 */
	void update(List<InetSocketAddress> found, Function<InetSocketAddress, String> zones) {
		if (this.closed) {
			return;
		}
		Map<InetSocketAddress, String> known = zonesOf(found, zones);
		List<AddressPool> added = new ArrayList<>(known.size());
		List<AddressPool> removed = new ArrayList<>();
		boolean replaced = false;
		try {
			synchronized (this) {
				if (this.closed) {
					return;
				}
				Set<InetSocketAddress> wanted = new LinkedHashSet<>(known.keySet());
				List<AddressPool> next = new ArrayList<>();
				for (AddressPool pool : this.current) {
					(wanted.remove(pool.address()) ? next : removed).add(pool);
				}
				wanted.forEach((address) -> added.add(this.factory.apply(this, address)));
				next.addAll(added);
				next.forEach((pool) -> pool.zone(known.getOrDefault(pool.address(), "")));
				this.restartingUntilNanos = System.nanoTime() + Math.max(0, restartingNanos());
				this.current = List.copyOf(next);
				replaced = true;
			}
			replaced(found.size(), added, removed);
		}
		finally {
			(replaced ? removed : added).forEach(AddressPool::close);
		}
	}

	/** Of the addresses that are used. Asks code of others, so without the lock. */
	private Map<InetSocketAddress, String> zonesOf(List<InetSocketAddress> found,
			Function<InetSocketAddress, String> zones) {
		Map<InetSocketAddress, String> known = new LinkedHashMap<>();
		found.stream().limit(MOST_ADDRESSES).distinct().forEach((address) -> known.put(address, zone(address, zones)));
		return known;
	}

	private String zone(InetSocketAddress address, Function<InetSocketAddress, String> zones) {
		try {
			return zones.apply(address);
		}
		catch (Throwable ex) {
			failures.log(Level.WARN, "The zone of {} of '{}' is not known: {}", address, this.target,
					FailureText.of(ex));
			return "";
		}
	}

	private void replaced(int found, List<AddressPool> added, List<AddressPool> removed) {
		if (found > MOST_ADDRESSES) {
			failures.log(Level.WARN, "'{}' has {} addresses, of which {} are used", this.target, found, MOST_ADDRESSES);
		}
		if (this.refresh != null && (!added.isEmpty() || !removed.isEmpty())) {
			logger.info("Addresses of '{}': {} (new: {}, gone: {})", this.target, names(this.current), names(added),
					names(removed));
		}
		if (this.used) {
			added.forEach((pool) -> pool.queuePairs().connect());
		}
		this.waits.forEach((wait) -> wait.follow(this.current));
		tell();
	}

	@Override
	public void onAddresses(Consumer<List<String>> consumer) {
		synchronized (this.consumers) {
			List<String> names = names(this.current);
			this.consumers.put(consumer, names);
			consumer.accept(names);
		}
	}

	private void tell() {
		synchronized (this.consumers) {
			List<String> names = names(this.current);
			this.consumers.replaceAll((consumer, told) -> {
				if (!names.equals(told)) {
					tell(consumer, names);
				}
				return names;
			});
		}
	}

	private void tell(Consumer<List<String>> consumer, List<String> names) {
		try {
			consumer.accept(names);
		}
		catch (RuntimeException ex) {
			failures.log(Level.WARN, "The addresses of '{}' cannot be told: {}", this.target, FailureText.of(ex));
		}
	}

	private static List<String> names(List<AddressPool> pools) {
		return pools.stream().map(AddressPool::name).toList();
	}

	/** The resolver does not answer; that ends the wait of those who wait for it. */
	void notFound() {
		if (this.current.isEmpty()) {
			this.waits.forEach((wait) -> {
				if (!wait.isForReady()) {
					wait.completeExceptionally(unavailable(RpcStatus.UNAVAILABLE));
				}
			});
		}
	}

	/** A connection is lost or cannot be made, perhaps because its address has moved. */
	void troubled() {
		if (this.refresh != null) {
			this.refresh.soon();
		}
	}

	private RpcException unavailable(RpcStatus status) {
		return RpcException.madeElsewhere(status,
				"no connection to " + this.target + ": " + lastFailure() + pauseSince(Long.MIN_VALUE), null, null);
	}

	private static RpcException closed() {
		return RpcException.madeElsewhere(RpcStatus.UNAVAILABLE, "the client is closed", null, null);
	}

	@Override
	public void agree() {
		this.current.forEach((pool) -> pool.queuePairs().agree());
	}

	@Override
	public void connect() {
		use();
		this.current.forEach((pool) -> pool.queuePairs().connect());
	}

	@Override
	public String target() {
		return this.target;
	}

	@Override
	public long restartingNanos() {
		return Math.max(this.restartingUntilNanos - System.nanoTime(), restartingNanos(this.current));
	}

	private static long restartingNanos(List<AddressPool> pools) {
		return pools.stream().mapToLong((pool) -> pool.queuePairs().restartingNanos()).max().orElse(Long.MIN_VALUE);
	}

	@Override
	public List<ClientConnection> connections() {
		return pools().flatMap((pool) -> pool.connections().stream()).toList();
	}

	@Override
	public List<AddressHealth> addresses() {
		return this.current.stream().map(AddressPool::health).toList();
	}

	@Override
	public ConnectionState state() {
		if (this.closed) {
			return ConnectionState.CLOSED;
		}
		if (this.current.isEmpty() && this.refresh != null && this.refresh.isStarted()) {
			return this.refresh.lastFailure().isEmpty() ? ConnectionState.CONNECTING : ConnectionState.BACKOFF;
		}
		return pools().map(QueuePairPool::state).reduce(ConnectionState::better).orElse(ConnectionState.IDLE);
	}

	/** Of an address that works there is nothing to be said, nor then of others. */
	@Override
	public String lastFailure() {
		if (this.current.isEmpty()) {
			return (this.refresh != null) ? this.refresh.lastFailure() : "";
		}
		if (open() > 0) {
			return "";
		}
		Map<String, String> all = new LinkedHashMap<>();
		for (AddressPool pool : this.current) {
			String failure = pool.queuePairs().lastFailure();
			if (!failure.isEmpty()) {
				all.put(pool.name(), failure);
			}
		}
		int more = all.size() - MOST_FAILURES_TOLD;
		return all.entrySet()
			.stream()
			.limit(MOST_FAILURES_TOLD)
			.map((entry) -> entry.getKey() + ": " + entry.getValue())
			.collect(Collectors.joining("; ")) + ((more > 0) ? "; and " + more + " more" : "");
	}

	@Override
	public String pauseSince(long nanos) {
		return pools().map((pool) -> pool.pauseSince(nanos)).filter((pause) -> !pause.isEmpty()).findFirst().orElse("");
	}

	private Stream<QueuePairPool> pools() {
		return this.current.stream().map(AddressPool::queuePairs);
	}

	@Override
	public int open() {
		return pools().mapToInt(QueuePairPool::open).sum();
	}

	@Override
	public int min() {
		return this.options.min() * this.current.size();
	}

	@Override
	public int max() {
		return this.options.max() * this.current.size();
	}

	@Override
	public int outstandingCalls() {
		return pools().mapToInt(QueuePairPool::outstandingCalls).sum();
	}

	@Override
	public PoolCounters counters() {
		return this.counters;
	}

	/** One address that works is enough. */
	@Override
	public QueuePairPoolHealth health() {
		if (this.closed) {
			return QueuePairPoolHealth.DOWN;
		}
		if (open() > 0) {
			return QueuePairPoolHealth.UP;
		}
		boolean failed = this.current.isEmpty() ? !lastFailure().isEmpty()
				: pools().anyMatch((pool) -> pool.health() != QueuePairPoolHealth.UP);
		return failed ? QueuePairPoolHealth.DOWN : QueuePairPoolHealth.UP;
	}

	@Override
	public void close() {
		List<AddressPool> all;
		synchronized (this) {
			this.closed = true;
			all = this.current;
		}
		if (this.refresh != null) {
			this.refresh.close();
		}
		all.forEach((pool) -> pool.queuePairs().close());
		this.waits.forEach((wait) -> wait.completeExceptionally(closed()));
	}

	/**
	 * An address that a call is not to go to once more, in the place that it has for the
	 * load balancer.
	 *
	 * @param pool the address
	 */
	private record UsedAddress(AddressPool pool) implements Candidate {

		@Override
		public String name() {
			return this.pool.name();
		}

		@Override
		public String zone() {
			return this.pool.zone();
		}

		@Override
		public boolean isAvailable() {
			return false;
		}

		@Override
		public int outstandingCalls() {
			return this.pool.outstandingCalls();
		}

	}

}
