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

package dev.rdmarpc.verbs;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.FutureTask;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.TestExecutionExceptionHandler;
import org.opentest4j.TestAbortedException;

import dev.rdmarpc.TestEnvironment;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Two sides of one provider for one test, the loop that drives both, and the audit after
 * it: every connection ends and flushes, every request has completed exactly once, every
 * end was announced exactly once, and no guard byte has changed.
 *
 * <p>
 * The seed of {@link #random()} is fixed; {@value #SEED_PROPERTY} overrides it. A failure
 * tells it, with the state of every queue pair.
 */
final class VerbsFixture extends ProgressLoop
		implements BeforeEachCallback, AfterEachCallback, TestExecutionExceptionHandler {

	static final String SEED_PROPERTY = "rdmarpc.test.seed";

	/** How long a connection may take to be set up, beside many others. */
	private static final long SETUP_NANOS = TestEnvironment
		.scaled(Duration.ofNanos(4 * ConnectOptions.DEFAULTS.timeoutNanos()))
		.toNanos();

	private final Supplier<VerbsProvider> providerSupplier;

	private final InetAddress address;

	private final boolean explainsFaults;

	private final BooleanSupplier notifiesOfSolicitedAlone;

	private final BooleanSupplier checksPermissionToRead;

	private final BooleanSupplier stopsPlacingAtOnce;

	private final BooleanSupplier stopsSendingAtOnce;

	private final boolean movesWithoutGarbage;

	private final int largestBytes;

	private final Function<MemoryRegion, int[]> keysTold;

	private final long seed = Long.getLong(SEED_PROPERTY, 20260727L);

	private final Random random = new Random(this.seed);

	private final List<VerbsEndpoint> endpoints = new CopyOnWriteArrayList<>();

	private final List<SharedReceives> sharedReceives = new CopyOnWriteArrayList<>();

	private final List<GuardedMemory> memories = new CopyOnWriteArrayList<>();

	private final Deque<AutoCloseable> closeables = new ArrayDeque<>();

	private final List<Thread> threads = new ArrayList<>();

	private @Nullable VerbsProvider provider;

	private @Nullable VerbsSide left;

	private @Nullable VerbsSide right;

	private @Nullable TestListener listener;

	VerbsFixture(Supplier<VerbsProvider> providerSupplier, InetAddress address, boolean explainsFaults,
			BooleanSupplier notifiesOfSolicitedAlone, BooleanSupplier checksPermissionToRead,
			BooleanSupplier stopsPlacingAtOnce, BooleanSupplier stopsSendingAtOnce, boolean movesWithoutGarbage,
			int largestBytes, Function<MemoryRegion, int[]> keysTold) {
		this.movesWithoutGarbage = movesWithoutGarbage;
		this.largestBytes = largestBytes;
		this.keysTold = keysTold;
		this.stopsPlacingAtOnce = stopsPlacingAtOnce;
		this.stopsSendingAtOnce = stopsSendingAtOnce;
		this.checksPermissionToRead = checksPermissionToRead;
		this.notifiesOfSolicitedAlone = notifiesOfSolicitedAlone;
		this.providerSupplier = providerSupplier;
		this.address = address;
		this.explainsFaults = explainsFaults;
	}

	/**
	 * Whether nothing but solicited Sends and errors can be waited for, see the suite.
	 */
	boolean notifiesOfSolicitedAlone() {
		return this.notifiesOfSolicitedAlone.getAsBoolean();
	}

	/** Whether a Read needs the permission of the region, see the suite. */
	boolean checksPermissionToRead() {
		return this.checksPermissionToRead.getAsBoolean();
	}

	/** Whether nothing is placed after a region was deregistered, see the suite. */
	boolean movesWithoutGarbage() {
		return this.movesWithoutGarbage;
	}

	boolean stopsPlacingAtOnce() {
		return this.stopsPlacingAtOnce.getAsBoolean();
	}

	/** Whether nothing is sent after a region was deregistered, see the suite. */
	boolean stopsSendingAtOnce() {
		return this.stopsSendingAtOnce.getAsBoolean();
	}

	/** The keys that Reads into a region have told peers, see the suite. */
	int[] keysToldBy(MemoryRegion region) {
		return this.keysTold.apply(region);
	}

	/** The largest request that the suite makes, see there. */
	int largestBytes() {
		return this.largestBytes;
	}

	/** Whether both sides learn why the peer was refused, see the suite. */
	boolean explainsFaults() {
		return this.explainsFaults;
	}

	@Override
	public void beforeEach(ExtensionContext context) {
		VerbsProvider asked = this.providerSupplier.get();
		ProviderAvailability availability = asked.availability();
		if (TestEnvironment.isMeant(asked.name())) {
			assertThat(availability.available()).as(availability.reason()).isTrue();
		}
		Assumptions.assumeTrue(availability.available(), availability.reason());
		this.provider = asked;
	}

	@Override
	public void handleTestExecutionException(ExtensionContext context, Throwable failure) throws Throwable {
		explain(failure);
		throw failure;
	}

	private void explain(Throwable failure) {
		if (!(failure instanceof TestAbortedException)) {
			AssertionError explanation = new AssertionError(
					"reproduce with -D" + SEED_PROPERTY + "=" + this.seed + ", state:\n" + dump());
			explanation.setStackTrace(new StackTraceElement[0]);
			failure.addSuppressed(explanation);
		}
	}

	@Override
	public void afterEach(ExtensionContext context) throws Exception {
		try {
			if (context.getExecutionException().isEmpty()) {
				audit();
			}
		}
		catch (Throwable ex) {
			explain(ex);
			throw ex;
		}
		finally {
			while (!this.closeables.isEmpty()) {
				this.closeables.pop().close();
			}
		}
		for (Thread thread : this.threads) {
			thread.join(DEADLINE.toMillis());
			assertThat(thread.isAlive()).as("thread %s still runs", thread.getName()).isFalse();
		}
	}

	/**
	 * Ends what is still connected and asserts that nothing is outstanding or damaged.
	 */
	private void audit() {
		for (VerbsEndpoint endpoint : this.endpoints) {
			if (endpoint.isAccounted() && endpoint.state() == QueuePairState.READY_TO_SEND) {
				endpoint.queuePair().disconnect();
			}
		}
		for (VerbsEndpoint endpoint : this.endpoints) {
			if (endpoint.isAccounted()) {
				awaitSettled(endpoint);
			}
		}
		for (int i = 0; i < 3; i++) {
			assertThat(progress()).as("completions after everything was flushed").isZero();
		}
		for (VerbsEndpoint endpoint : this.endpoints) {
			int most = endpoint.wasConnected() ? 1 : 0;
			int least = endpoint.isAccounted() ? 1 : 0;
			assertThat(endpoint.disconnects()).as("times the end of %s was announced", endpoint.name())
				.isBetween(least, most);
		}
		for (SharedReceives receives : this.sharedReceives) {
			assertThat(receives.queue().posted()).as(receives.ledger().dump()).isEqualTo(receives.ledger().due());
		}
		this.memories.forEach(GuardedMemory::assertGuardsIntact);
		assertThat(violations()).isEmpty();
	}

	/** Where nobody explains how the peer refused a request it fails somehow. */
	@Override
	Completed awaitStatus(VerbsEndpoint endpoint, long id, WorkStatus status) {
		boolean byPeer = status == WorkStatus.REMOTE_ACCESS_ERROR || status == WorkStatus.REMOTE_INVALID_REQUEST;
		if (this.explainsFaults || !byPeer) {
			return super.awaitStatus(endpoint, id, status);
		}
		Completed completed = awaitCompletion(endpoint, id);
		assertThat(completed.isSuccess()).as("%s of %s", completed, endpoint.name()).isFalse();
		return completed;
	}

	VerbsProvider provider() {
		return nonNull(this.provider);
	}

	/** A reproducible source of randomness for the test thread. */
	Random random() {
		return this.random;
	}

	/** The side that connects. */
	VerbsSide left() {
		if (this.left == null) {
			this.left = new VerbsSide(this, "left", openDevice());
		}
		return this.left;
	}

	/** The side that accepts. */
	VerbsSide right() {
		if (this.right == null) {
			this.right = new VerbsSide(this, "right", openDevice());
		}
		return this.right;
	}

	/** Opens the provider's default device, to be closed with the test. */
	VerbsDevice openDevice() {
		VerbsDevice device = provider().openDevice(null);
		this.closeables.push(device);
		return device;
	}

	/** Opens the provider's memory source if it has one, to be closed with the test. */
	@Nullable MemorySource openMemorySource() {
		MemorySource source = provider().openMemorySource();
		if (source != null) {
			this.closeables.push(source);
		}
		return source;
	}

	/** Where to listen: any port. */
	InetSocketAddress anyPort() {
		return new InetSocketAddress(this.address, 0);
	}

	TestListener listen(ListenOptions options) {
		TestListener opened = new TestListener(right().device(), anyPort(), options);
		this.closeables.push(opened);
		return opened;
	}

	/** The listener that {@link #connect()} uses. */
	TestListener listener() {
		if (this.listener == null) {
			ListenOptions defaults = ListenOptions.DEFAULTS;
			this.listener = listen(new ListenOptions(defaults.backlog(), defaults.maxPendingHandshakes(),
					defaults.maxConnections(), SETUP_NANOS));
		}
		return this.listener;
	}

	/** The default options as far as the devices can follow. */
	ConnectOptions connectOptions() {
		int depth = Math.min(left().limits().maxReadDepth(), right().limits().maxReadDepth());
		return new ConnectOptions(new byte[0], Math.min(16, depth), Math.min(16, depth), SETUP_NANOS);
	}

	ConnectedPair connect() {
		return connect(EndpointOptions.DEFAULTS);
	}

	ConnectedPair connect(EndpointOptions options) {
		return connect(left().endpoint(options), right().endpoint(options));
	}

	ConnectedPair connect(VerbsEndpoint leftEndpoint, VerbsEndpoint rightEndpoint) {
		return connect(leftEndpoint, rightEndpoint, connectOptions(), connectOptions());
	}

	ConnectedPair connect(VerbsEndpoint leftEndpoint, VerbsEndpoint rightEndpoint, ConnectOptions connectOptions,
			ConnectOptions acceptOptions) {
		CompletableFuture<ConnectionInfo> connecting = leftEndpoint.side()
			.device()
			.connect(leftEndpoint.queuePair(), listener().address(), connectOptions);
		return accept(listener().awaitRequest(connecting), leftEndpoint, connecting, rightEndpoint, acceptOptions);
	}

	ConnectedPair accept(ConnectionRequest request, VerbsEndpoint leftEndpoint,
			CompletableFuture<ConnectionInfo> connecting, VerbsEndpoint rightEndpoint, ConnectOptions options) {
		CompletableFuture<ConnectionInfo> accepting = request.accept(rightEndpoint.queuePair(), options);
		ConnectionInfo leftInfo = awaitResult(connecting);
		ConnectionInfo rightInfo = awaitResult(accepting);
		leftEndpoint.connected();
		rightEndpoint.connected();
		return new ConnectedPair(this, leftEndpoint, rightEndpoint, leftInfo, rightInfo);
	}

	/** Runs something beside the test thread; the test ends only when it has. */
	<T> FutureTask<T> inBackground(String name, Callable<T> work) {
		FutureTask<T> task = new FutureTask<>(work);
		Thread thread = new Thread(task, name);
		thread.setDaemon(true);
		this.threads.add(thread);
		thread.start();
		return task;
	}

	/** Does something while another thread polls a completion queue. */
	void whilePolled(CompletionCollector polled, Runnable work) {
		BackgroundProgress progress = new BackgroundProgress(polled);
		try {
			work.run();
		}
		finally {
			progress.close();
		}
	}

	VerbsEndpoint track(VerbsEndpoint endpoint) {
		this.endpoints.add(endpoint);
		return endpoint;
	}

	SharedReceives track(SharedReceives receives) {
		this.sharedReceives.add(receives);
		return receives;
	}

	/** Leaves out of the audit what the test has closed itself. */
	void forget(SharedReceives receives) {
		this.sharedReceives.remove(receives);
	}

	GuardedMemory track(GuardedMemory memory) {
		this.memories.add(memory);
		return memory;
	}

	private String dump() {
		StringBuilder dump = new StringBuilder();
		this.endpoints.forEach((endpoint) -> dump.append("  ").append(endpoint.dump()).append('\n'));
		violations().forEach((violation) -> dump.append("  violation: ").append(violation).append('\n'));
		return dump.toString();
	}

}
