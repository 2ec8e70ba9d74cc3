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

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.memory.RegisteredBuffer;
import dev.rdmarpc.verbs.CompletionQueue;
import dev.rdmarpc.verbs.WorkCompletion;

/**
 * The event loop over one completion queue: takes completions, delivers frames, posts
 * what there is to send, and watches the time. Which thread does so is up to
 * {@link LoopDriver}; the state here is confined to it.
 */
public final class ChannelLoop implements AutoCloseable, LoopWork {

	private static final int ARRIVED_SLICES = 128;

	private final LoopResources resources;

	private final Consumer<ChannelLoop> onClose;

	private final LoopDriver driver;

	private final Consumer<UserTask> afterTurn;

	private final CompletionQueue completions;

	private final ReceivePool receives;

	private final LoopMetrics metrics = new LoopMetrics();

	private final LoopFailures failures = new LoopFailures();

	private final OutgoingMessagePool outgoingMessages;

	/** Changed by the driver, who holds its lock for that as others do for reading. */
	private final List<RpcChannel> channels = new ArrayList<>();

	private final InboundBudget inbound;

	private final RetiredChannels retired = new RetiredChannels();

	private final LinkedTasks left = new LinkedTasks();

	private final List<RpcChannel> dirty = new ArrayList<>();

	private final IncomingMessage incoming = new IncomingMessage();

	private final CompletionBatch batch = new CompletionBatch();

	private long nowNanos = System.nanoTime();

	private final TickTimes tickTimes = new TickTimes(this.nowNanos);

	private final Ticks ticks = new Ticks(this.nowNanos);

	private volatile boolean draining;

	private final LoopClosing.Once closing = new LoopClosing.Once();

	private volatile boolean closed;

	/**
	 * Creates a loop and starts its thread.
	 * @param resources owned by the loop from here on
	 */
	ChannelLoop(String name, LoopResources resources, PollingOptions polling, LoopWatcher watcher,
			Consumer<ChannelLoop> onClose) {
		this.resources = resources;
		this.onClose = onClose;
		this.completions = resources.completionQueue();
		this.receives = resources.receives();
		this.inbound = new InboundBudget(resources.memory(), InboundBudget.MAX_MESSAGES);
		this.outgoingMessages = new OutgoingMessagePool(resources, this.metrics, this::isDriver);
		this.driver = new LoopDriver(name, this, this.completions, this.metrics, polling, watcher);
		this.afterTurn = this.driver::afterTurn;
		this.driver.start();
	}

	@Override
	public boolean turn() {
		this.nowNanos = System.nanoTime();
		boolean worked = this.driver.drainInbox();
		flush();
		worked |= dispatch();
		flush();
		if (this.tickTimes.isDue(this.nowNanos)) {
			tick();
			flush();
		}
		return worked;
	}

	/** A step of one channel has failed, which ends only that. Does not throw; driver. */
	void failed(RpcChannel channel, Throwable failure) {
		this.failures.report(channel, failure);
		try {
			channel.shut(LoopFailures.reason(failure));
		}
		catch (Throwable ex) {
			this.failures.report(channel, ex);
		}
	}

	LoopFailures failures() {
		return this.failures;
	}

	@Override
	public void flush() {
		for (int i = 0; i < this.dirty.size(); i++) {
			RpcChannel channel = this.dirty.get(i);
			try {
				this.ticks.activate(channel.ticked());
				channel.flush();
			}
			catch (Throwable ex) {
				failed(channel, ex);
			}
		}
		this.dirty.clear();
	}

	@Override
	public boolean expectsBytes() {
		return this.ticks.expectsBytes();
	}

	@Override
	public long nextTickNanos() {
		return this.tickTimes.nextNanos();
	}

	/**
	 * Handles a slice of a batch of completions; the batch has the cursor, so that none
	 * is lost when a turn fails.
	 */
	private boolean dispatch() {
		if (this.batch.isAtEnd()) {
			if (!this.batch.poll(this.completions)) {
				this.retired.polled(true);
				return this.completions.isMoving();
			}
			this.metrics.polled(this.batch.count());
		}
		for (this.batch.slice(); !this.batch.isSliced();) {
			WorkCompletion completion = this.batch.next();
			RpcChannel channel = (RpcChannel) completion.queuePair().listener();
			try {
				dispatch(channel, completion);
			}
			catch (Throwable ex) {
				failed(channel, ex);
			}
		}
		if (this.batch.isAtEnd()) {
			this.retired.polled(!this.batch.isFull());
		}
		return true;
	}

	/**
	 * Handles what has completed before a connection ended, a bounded number: the peer's
	 * reason for the end is among it. Driver, in no other handling; does not throw.
	 */
	void dispatchArrived() {
		boolean more = true;
		try {
			for (int i = 0; i < ARRIVED_SLICES && more && !this.closed; i++) {
				dispatch();
				more = !this.batch.isAtEnd() || this.batch.isFull();
			}
		}
		catch (Throwable ex) {
			this.failures.report(name(), ex);
		}
	}

	private void dispatch(RpcChannel channel, WorkCompletion completion) {
		boolean success = completion.isSuccess();
		switch (completion.opcode()) {
			case RECEIVE -> received(channel, completion);
			case READ -> channel.onReadCompleted(success, success ? completion.byteLength() : 0);
			default -> channel.onSendCompleted(success, completion.id());
		}
	}

	private void received(RpcChannel channel, WorkCompletion completion) {
		RegisteredBuffer buffer = this.receives.take(completion.id());
		boolean taken = false;
		try {
			if (completion.isSuccess()) {
				this.metrics.received(completion.byteLength());
				taken = channel.onFrame(buffer, (int) completion.byteLength());
			}
		}
		catch (Throwable ex) {
			failed(channel, ex);
		}
		finally {
			if (taken) {
				this.receives.replace(channel.credits());
			}
			else {
				this.receives.giveBack(buffer, channel.credits());
			}
		}
	}

	/** Watches the time. Callbacks may close any channel. */
	private void tick() {
		boolean busy = this.tickTimes.isUpkeepDue(this.nowNanos) && upkeep();
		this.retired.dispose(this.nowNanos, this.closed, this.failures);
		if (busy || this.receives.isShort() || !this.left.isEmpty()) {
			tickSoon();
		}
		this.tickTimes.ended(this.nowNanos, !this.retired.isEmpty());
	}

	/** Looks at channels and memory; tells whether one of them asks for that soon. */
	private boolean upkeep() {
		boolean busy = this.ticks.tick(this.nowNanos, this.tickTimes.upkeeps(this.nowNanos));
		try {
			tendMemory();
		}
		catch (Throwable ex) {
			this.failures.report(name(), ex);
		}
		this.left.run(this.failures, this.afterTurn);
		return busy;
	}

	/** Looks at a channel; does not throw. */
	void tick(RpcChannel channel, boolean mayEnd) {
		try {
			channel.tick(this.nowNanos, mayEnd);
		}
		catch (Throwable ex) {
			failed(channel, ex);
		}
	}

	private void tendMemory() {
		this.inbound.tick(this.nowNanos);
		this.receives.replenish();
		this.outgoingMessages.tick();
		this.resources.memory().trim();
		this.metrics.receives(this.receives);
	}

	/**
	 * Lets a channel take part from here on, with receives posted for its peer.
	 * @return whether there was room and memory for them
	 */
	boolean add(RpcChannel channel) {
		if (this.closed || !this.receives.promise(channel.credits().promised())) {
			return false;
		}
		boolean added = false;
		try {
			synchronized (this.channels) {
				this.retired.reserve(this.channels.size() + 1);
				added = this.channels.add(channel);
			}
			this.inbound.add(channel.receiver());
			this.ticks.add(channel.ticked());
		}
		finally {
			if (!added) {
				this.receives.unpromise(channel.credits().promised());
			}
		}
		return true;
	}

	/** Makes room, see {@link AcceptedChannels#evictNewcomer}. */
	boolean evictNewcomer(RpcChannel other) {
		return AcceptedChannels.evictNewcomer(this.channels, other);
	}

	/**
	 * A channel has closed: its queue pair is released when it has flushed, and what its
	 * peer had begun counts until then. For one that took part there is room, so that
	 * this succeeds without memory.
	 */
	void retire(RpcChannel channel, ChannelHandler handler, String reason) {
		try {
			boolean first = this.retired.isEmpty();
			this.retired.add(channel.retirement(), this.nowNanos);
			boolean removed;
			synchronized (this.channels) {
				removed = this.channels.remove(channel);
			}
			if (removed) {
				this.receives.forget(channel.credits(), channel.credits().promised());
			}
			if (first && this.tickTimes.tickAt(this.nowNanos)) {
				this.driver.tickMoved(this.nowNanos);
			}
			tickSoon();
		}
		finally {
			closed(channel, handler, reason);
		}
	}

	private void closed(RpcChannel channel, ChannelHandler handler, String reason) {
		try {
			handler.onClosed(channel, reason);
		}
		catch (Throwable ex) {
			this.failures.report(channel, ex);
		}
	}

	void addDirty(RpcChannel channel) {
		this.dirty.add(channel);
	}

	/** What has arrived takes as long as so many more frames. */
	void countMore(int frames) {
		this.batch.countMore(frames);
	}

	/** For the frame at hand: whoever gets it does not turn the loop. */
	IncomingMessage incoming() {
		return this.incoming;
	}

	void callStarted(long deadlineNanos) {
		this.driver.callStarted();
		if (deadlineNanos != Long.MAX_VALUE) {
			moveTick(deadlineNanos);
		}
	}

	void callFinished() {
		this.driver.callFinished();
	}

	/** Something has begun that ticks watch over. */
	void tickSoon() {
		moveTick(this.nowNanos + TickTimes.BUSY_NANOS);
	}

	private void moveTick(long nanos) {
		if (this.tickTimes.upkeepAt(nanos)) {
			this.driver.tickMoved(nanos);
		}
	}

	@Override
	public long nowNanos() {
		return this.nowNanos;
	}

	/** Runs something as the driver, now or soon; it must not block. Any thread. */
	public void execute(Runnable task) {
		this.driver.execute(task);
	}

	/** Like {@link #execute}, without memory at the next tick. Does not throw. */
	public void executeSurely(LinkedTask task) {
		try {
			this.driver.execute(task);
		}
		catch (Throwable ex) {
			this.left.add(task);
		}
	}

	/** Like {@link #executeLater}, without memory at the next tick. Does not throw. */
	void executeLaterSurely(LinkedTask task) {
		try {
			this.driver.executeLater(task);
		}
		catch (Throwable ex) {
			this.left.add(task);
		}
	}

	/** Has a task run at the next tick; needs no memory. Any thread. */
	public void executeAtTick(LinkedTask task) {
		this.left.add(task);
	}

	/** Runs users' code whose messages are posted together; any thread. */
	public void gather(Runnable code) {
		this.driver.gathering().run(code);
	}

	/** Whether the current thread runs such code. */
	public boolean isGathering() {
		return this.driver.gathering().isCurrent();
	}

	/** Has a task run by a driver other than the caller. Any thread. */
	void executeLater(Runnable task) {
		this.driver.executeLater(task);
	}

	/** Has users' code run after the turn, by a thread that does not drive; driver. */
	public void afterTurn(UserTask task) {
		this.driver.afterTurn(task);
	}

	/** Whether the current thread drives the loop, so that it must not wait for it. */
	boolean isDriver() {
		return this.driver.isDriver();
	}

	/** The time of a few tasks ago to the thread that runs users' code now, or 0. */
	public long roughNanos() {
		return this.driver.thread().roughNanos();
	}

	/** Whether the current thread is the loop's own, also while it runs users' code. */
	public boolean isOwnThread() {
		return this.driver.isDriver() || this.driver.thread().isCurrent();
	}

	/**
	 * Blocks until a call is done, driving the loop if nobody else does. The waiting
	 * thread must be {@linkplain #wake woken} when the call becomes done.
	 * @param deadlineNanos by {@link System#nanoTime()}, or {@link Long#MAX_VALUE}
	 * @return whether the call is done; {@code false} when the deadline has passed or the
	 * thread is interrupted, after which the caller abandons the call
	 */
	public boolean waitFor(PendingCall call, long deadlineNanos) {
		return call.isDone() || this.driver.waitFor(call, deadlineNanos);
	}

	/** Submits a message, taking ownership. Any thread. */
	void submit(OutgoingMessage message) {
		try {
			this.driver.execute(message.acceptance());
		}
		catch (Throwable ex) {
			message.abort();
			throw ex;
		}
	}

	/** Submits a request, taking ownership, and waits like {@link #waitFor}. */
	public boolean submitAndWait(OutgoingMessage request, PendingCall call, long deadlineNanos) {
		try {
			this.driver.executeForCaller(request.acceptance());
		}
		catch (Throwable ex) {
			request.abort();
			throw ex;
		}
		return this.driver.waitFor(call, deadlineNanos);
	}

	/** Wakes a thread in {@link #waitFor}; driver. */
	public void wake(Thread waiter) {
		this.driver.wake(waiter);
	}

	InboundBudget inbound() {
		return this.inbound;
	}

	ReceivePool receives() {
		return this.receives;
	}

	LoopResources resources() {
		return this.resources;
	}

	OutgoingMessagePool outgoingMessages() {
		return this.outgoingMessages;
	}

	/** The name of the loop and of its thread. */
	public String name() {
		return this.driver.name();
	}

	/** The name of the rail whose completions it takes. */
	public String rail() {
		return this.resources.rail();
	}

	/** What the loop has done so far. */
	public LoopMetrics metrics() {
		return this.metrics;
	}

	/** Calls waiting for a reply on all channels. */
	public int outstandingCalls() {
		return this.driver.outstandingCalls();
	}

	/** The channels that are not closed, at this instant. Does not wait for the loop. */
	public List<RpcChannel> channels() {
		synchronized (this.channels) {
			return List.copyOf(this.channels);
		}
	}

	/**
	 * Why the loop does not run, or {@code null}: no turn has succeeded for seconds,
	 * because a callback blocks it or its device fails, or its thread is gone. Does not
	 * wait for the loop.
	 */
	public @Nullable String problem() {
		return this.driver.problem();
	}

	boolean isDraining() {
		return this.draining;
	}

	/** Refuses new channels from here on and says goodbye on those that are open. */
	public void drain() {
		this.draining = true;
		execute(() -> channels().forEach(RpcChannel::drain));
	}

	/**
	 * Closes all channels, their queue pairs and the loop. Idempotent; while another
	 * thread closes it, waits until that one is through. Does not wait for ever for a
	 * callback that blocks the loop: the loop then closes by itself when the callback
	 * returns.
	 * @throws IllegalStateException if called by a callback or inline handler on this
	 * loop, which would wait for itself
	 */
	@Override
	public void close() {
		if (isOwnThread()) {
			throw new IllegalStateException("a loop cannot be closed by what runs on it (expected: another thread)");
		}
		this.closing.run(() -> {
			execute(this::shutAll);
			this.closed = true;
			this.driver.close(this::end);
		});
	}

	/** Whether nothing new should begin on it. */
	public boolean isClosed() {
		return this.closed;
	}

	boolean isOn(String rail) {
		return !this.closed && rail().equals(rail);
	}

	private void shutAll() {
		for (RpcChannel channel : channels()) {
			try {
				channel.shut("closed on this side");
			}
			catch (Throwable ex) {
				this.failures.report(channel, ex);
			}
		}
	}

	/** The last thing that happens; driver. */
	private void end() {
		try {
			shutAll();
			this.left.run(this.failures, this.afterTurn);
			this.retired.dispose(this.nowNanos, true, this.failures);
			this.outgoingMessages.close();
			this.resources.close();
		}
		finally {
			this.onClose.accept(this);
		}
	}

}
