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

package dev.rdmarpc.verbs.iwarp;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.CancelledKeyException;
import java.nio.channels.ClosedSelectorException;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;

import javax.net.ssl.SSLException;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

import dev.rdmarpc.logging.RateLimitedLogger;
import dev.rdmarpc.verbs.QueuePair;
import dev.rdmarpc.verbs.VerbsError;
import dev.rdmarpc.verbs.VerbsException;

/**
 * The daemon thread of a device on which connections begin and end: it accepts, connects,
 * exchanges MPA frames, and sees the last bytes of ended connections out. Data does not
 * pass here.
 *
 * <p>
 * Implementation notes. Other threads hand over tasks through a queue and wake the
 * selector; handlers, deadlines and the selector's keys are touched by this thread alone.
 * The thread is started by the first task and ends after {@link #shutDown()} when the
 * last lingering socket is closed.
 *
 * <p>
 * Nothing else ends it. Whatever a handler or a task throws, errors included, concerns
 * that handler: it is told, and closes its socket. Buffers that the thread needs are
 * allocated before it starts, so that others who use memory up do not keep it from
 * answering. If the selector itself fails, the thread waits a moment before it goes on;
 * an interrupt, which would make the selector return at once for ever, is taken back.
 */
final class ConnectionThread implements Runnable {

	private static final Logger logger = LoggerFactory.getLogger(ConnectionThread.class);

	private static final int BUFFER_BYTES = 64 * 1024;

	/** Sockets that are seen out at once. */
	private static final int MAX_LINGERING = 1024;

	/** What they may still have to say. */
	private static final long MAX_LAST_WORDS_BYTES = 16L << 20;

	/** How long to wait after the selector has failed. */
	private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

	/** How long whoever closes something waits until its port is free. */
	private static final long CLOSE_NANOS = TimeUnit.SECONDS.toNanos(1);

	private final String deviceName;

	private final IwarpOptions options;

	private final UnaryOperator<ByteStream> layer;

	private final ConcurrentLinkedQueue<Runnable> tasks = new ConcurrentLinkedQueue<>();

	private final Map<QueuePair, SocketHandler> attempts = new ConcurrentHashMap<>();

	private final Set<SocketHandler> handlers = new HashSet<>();

	private final PriorityQueue<SocketHandler> deadlines = new PriorityQueue<>(
			Comparator.comparingLong((handler) -> handler.deadlineNanos() - this.epoch));

	private final long epoch = System.nanoTime();

	private final Set<LingeringSocket> lingering = new LinkedHashSet<>();

	private long lastWordsBytes;

	private @Nullable Selector selector;

	private volatile @Nullable Thread thread;

	private volatile boolean stopping;

	private final RateLimitedLogger failures = new RateLimitedLogger(logger);

	private final ByteBuffer buffer = ByteBuffer.allocateDirect(BUFFER_BYTES);

	private final TlsBuffers tlsBuffers = new TlsBuffers();

	private final TlsTasks tlsTasks;

	/**
	 * Creates a thread that starts with its first task.
	 * @param layer makes the stream of a connection from that of TCP
	 */
	ConnectionThread(String deviceName, IwarpOptions options, UnaryOperator<ByteStream> layer) {
		this.deviceName = deviceName;
		this.options = options;
		this.layer = layer;
		this.tlsTasks = new TlsTasks(deviceName);
	}

	/** Runs a task on the thread, starting it if need be. */
	void execute(Runnable task) {
		this.tasks.add(task);
		Selector current = started();
		if (current != null) {
			current.wakeup();
		}
	}

	/**
	 * Runs a task on the thread and has the selector let go of what that has closed.
	 * Waits for it, a moment at most, except on the thread itself.
	 */
	void executeToClose(Runnable task) {
		CountDownLatch done = new CountDownLatch(1);
		execute(() -> {
			try {
				task.run();
				releaseClosed();
			}
			catch (IOException ex) {
				throw new UncheckedIOException(ex);
			}
			finally {
				done.countDown();
			}
		});
		boolean interrupted = false;
		long deadline = System.nanoTime() + CLOSE_NANOS;
		while (!isCurrent() && done.getCount() > 0 && !hasEnded() && System.nanoTime() - deadline < 0) {
			try {
				done.await(CLOSE_NANOS / 100, TimeUnit.NANOSECONDS);
			}
			catch (InterruptedException ex) {
				interrupted = true;
			}
		}
		if (interrupted) {
			Thread.currentThread().interrupt();
		}
	}

	/**
	 * Starts the thread if need be: before there is anything that would be left behind if
	 * that fails.
	 */
	void start() {
		started();
	}

	private synchronized @Nullable Selector started() {
		Selector current = this.selector;
		if (current == null && !this.stopping) {
			current = open();
		}
		return current;
	}

	/** Starts the thread; where that fails, the next task tries again. */
	private Selector open() {
		Selector opened = null;
		boolean running = false;
		try {
			opened = Selector.open();
			TcpStream.prepare();
			this.selector = opened;
			Thread created = new Thread(this, "rdma-connections-" + this.deviceName);
			created.setDaemon(true);
			created.start();
			this.thread = created;
			running = true;
			return opened;
		}
		catch (IOException ex) {
			throw new VerbsException(VerbsError.DEVICE_ERROR, "cannot open a selector: " + ex.getMessage(), ex);
		}
		finally {
			if (!running) {
				this.selector = null;
				SocketHandler.closeQuietly(opened);
			}
		}
	}

	boolean isCurrent() {
		return Thread.currentThread() == this.thread;
	}

	/** Begins to connect a stream. */
	ByteStream connect(InetSocketAddress remote) throws IOException {
		return layered(TcpStream.connect(remote, this.options));
	}

	/** The stream that connections of the device get on top of TCP's. */
	ByteStream layered(TcpStream stream) {
		return this.layer.apply(stream);
	}

	/** Memory for the records of TLS. */
	TlsBuffers tlsBuffers() {
		return this.tlsBuffers;
	}

	/**
	 * Computes something elsewhere.
	 * @param then told on the thread when it is done, and what was thrown if anything was
	 * @throws SSLException if too much is to be computed already
	 */
	void compute(Runnable task, Consumer<@Nullable Throwable> then) throws SSLException {
		this.tlsTasks.execute(() -> {
			Throwable failure = null;
			try {
				task.run();
			}
			catch (Throwable ex) {
				failure = ex;
				this.failures.log(Level.ERROR, "TLS of {} cannot compute a handshake", this.deviceName, ex);
			}
			finally {
				Throwable thrown = failure;
				execute(() -> then.accept(thrown));
			}
		});
	}

	/** Has a handler go on that has waited for something else than its socket. */
	void resume(SocketHandler handler) {
		if (handler.isFinished()) {
			return;
		}
		try {
			handler.ready();
		}
		catch (CancelledKeyException | IOException | VerbsException ex) {
			fail(handler, ex);
		}
		catch (Throwable ex) {
			unexpected(ex);
			fail(handler, ex);
		}
	}

	/** Registers a handler's channel; on the thread. */
	SelectionKey register(SelectableChannel channel, int interest, SocketHandler handler) throws IOException {
		SelectionKey key = channel.register(selector(), interest, handler);
		add(handler);
		return key;
	}

	/** Registers a handler's stream; on the thread. */
	void register(ByteStream bytes, int interest, SocketHandler handler) throws IOException {
		bytes.watch(selector(), interest, handler);
		add(handler);
	}

	private void add(SocketHandler handler) {
		if (this.handlers.add(handler)) {
			this.deadlines.add(handler);
		}
	}

	/** Gives a handler another deadline, unless it is finished; on the thread. */
	void postpone(SocketHandler handler, long deadlineNanos) {
		this.deadlines.remove(handler);
		handler.deadlineNanos(deadlineNanos);
		if (!handler.isFinished()) {
			this.deadlines.add(handler);
		}
	}

	/** How many handlers the thread holds on to; on the thread, for tests. */
	int held() {
		return Math.max(this.handlers.size(), this.deadlines.size());
	}

	/** Gives a stream free for another selector; on the thread. */
	void deregister(ByteStream bytes) throws IOException {
		bytes.unwatch();
		releaseClosed();
	}

	/** Has the selector let go of channels that are closed; on the thread. */
	void releaseClosed() throws IOException {
		selector().selectNow((selected) -> {
			// What is ready stays ready.
		});
	}

	/** Notes the attempt of a queue pair, so that it can be abandoned. */
	void addAttempt(QueuePair queuePair, SocketHandler handler) {
		this.attempts.put(queuePair, handler);
	}

	void removeAttempt(QueuePair queuePair) {
		this.attempts.remove(queuePair);
	}

	/**
	 * Abandons the connection attempt of a queue pair, if there is one; from any thread.
	 * Does not throw: without memory to do it at once, the attempt ends in its time.
	 */
	@SuppressWarnings("UnusedException")
	void abandon(QueuePair queuePair) {
		SocketHandler handler = this.attempts.get(queuePair);
		if (handler == null) {
			return;
		}
		try {
			execute(() -> {
				if (!handler.isFinished()) {
					fail(handler, new VerbsException(VerbsError.CLOSED, queuePair + " was closed or disconnected"));
				}
			});
		}
		catch (Throwable ex) {
			// there is no memory to tell of it
		}
	}

	/**
	 * Sees a socket out: writes what is left, half-closes, and reads until the peer has
	 * closed too or the time is over; from any thread.
	 */
	void linger(ByteStream bytes, ByteBuffer lastWords) {
		long deadline = System.nanoTime() + this.options.lingerTimeout().toNanos();
		execute(() -> LingeringSocket.start(this, bytes, lastWords, deadline));
	}

	/** Notes a socket that is being seen out; ends the oldest when there are too many. */
	void addLingering(LingeringSocket socket) {
		this.lingering.add(socket);
		this.lastWordsBytes += socket.lastWordsBytes();
		while (this.lingering.size() > MAX_LINGERING
				|| (this.lastWordsBytes > MAX_LAST_WORDS_BYTES && this.lingering.size() > 1)) {
			tryEndLingering();
		}
	}

	void removeLingering(LingeringSocket socket) {
		if (this.lingering.remove(socket)) {
			this.lastWordsBytes -= socket.lastWordsBytes();
		}
	}

	/**
	 * Closes the socket that has been seen out for longest; on the thread. Returns false
	 * if there is none.
	 */
	boolean tryEndLingering() {
		if (this.lingering.isEmpty()) {
			return false;
		}
		this.lingering.iterator().next().close();
		return true;
	}

	/** A direct buffer for whatever is read or written at once; on the thread. */
	ByteBuffer buffer() {
		return this.buffer.clear();
	}

	private void unexpected(Throwable ex) {
		this.failures.log(Level.ERROR, "Unexpected failure on the connection thread of {}", this.deviceName, ex);
	}

	/**
	 * Closes all listeners, whose ports are free then, and fails all attempts; lingering
	 * sockets stay.
	 */
	void stopAccepting() {
		synchronized (this) {
			if (this.selector == null) {
				return;
			}
		}
		executeToClose(() -> {
			for (SocketHandler handler : new ArrayList<>(this.handlers)) {
				if (!(handler instanceof LingeringSocket) && !handler.isFinished()) {
					fail(handler, new VerbsException(VerbsError.CLOSED, "device " + this.deviceName + " was closed"));
				}
			}
		});
	}

	/** Ends the thread when the last lingering socket is closed. */
	void shutDown() {
		Selector current;
		synchronized (this) {
			this.stopping = true;
			current = this.selector;
		}
		if (current != null) {
			current.wakeup();
		}
		this.tlsTasks.shutDown();
	}

	/** Whether the thread was started and runs no more. */
	boolean hasEnded() {
		Thread current = this.thread;
		return current != null && !current.isAlive();
	}

	/** The thread while it lives; for tests. */
	@Nullable Thread thread() {
		return this.thread;
	}

	private synchronized Selector selector() {
		Selector current = this.selector;
		if (current == null) {
			throw new IllegalStateException("connection thread was not started");
		}
		return current;
	}

	@Override
	public void run() {
		Selector current = selector();
		boolean ended = false;
		while (!ended) {
			try {
				serve(current);
				ended = true;
			}
			catch (Throwable ex) {
				// thrown while another failure was reported; there is nothing left to say
				LockSupport.parkNanos(PAUSE_NANOS);
			}
		}
		SocketHandler.closeQuietly(current);
	}

	private void serve(Selector current) {
		List<SelectionKey> ready = new ArrayList<>();
		while (current.isOpen() && !(this.stopping && this.handlers.isEmpty() && this.tasks.isEmpty())) {
			Thread.interrupted();
			try {
				current.select(ready::add, untilDeadline());
			}
			catch (ClosedSelectorException ex) {
				return;
			}
			catch (Throwable ex) {
				unexpected(ex);
				LockSupport.parkNanos(PAUSE_NANOS);
			}
			try {
				ready.forEach(this::handle);
				ready.clear();
				runTasks();
				checkDeadlines();
				forgetFinished();
			}
			catch (Throwable ex) {
				unexpected(ex);
			}
		}
	}

	/**
	 * Lets go of what is finished, also where its deadline is not the next: handlers keep
	 * queue pairs.
	 */
	private void forgetFinished() {
		if (this.handlers.removeIf(SocketHandler::isFinished)) {
			this.deadlines.removeIf(SocketHandler::isFinished);
		}
	}

	private void handle(SelectionKey key) {
		resume((SocketHandler) key.attachment());
	}

	private void fail(SocketHandler handler, Throwable cause) {
		try {
			handler.failed(cause);
		}
		catch (Throwable ex) {
			unexpected(ex);
			closeSocket(handler);
		}
	}

	/** Sees to it that a handler that cannot even fail is not called again. */
	private void closeSocket(SocketHandler handler) {
		handler.finish();
		for (SelectionKey key : selector().keys()) {
			if (key.attachment() == handler) {
				SocketHandler.closeQuietly(key.channel());
			}
		}
	}

	private void runTasks() {
		Runnable task = this.tasks.poll();
		while (task != null) {
			try {
				task.run();
			}
			catch (Throwable ex) {
				unexpected(ex);
			}
			task = this.tasks.poll();
		}
	}

	private void checkDeadlines() {
		long now = System.nanoTime();
		SocketHandler first = this.deadlines.peek();
		while (first != null && (first.isFinished() || first.deadlineNanos() - now <= 0)) {
			this.deadlines.remove();
			if (!first.isFinished()) {
				timeOut(first);
			}
			first = this.deadlines.peek();
		}
	}

	private void timeOut(SocketHandler handler) {
		try {
			handler.timedOut();
		}
		catch (Throwable ex) {
			unexpected(ex);
			fail(handler, ex);
		}
	}

	/** Milliseconds until the next deadline, 0 for ever. */
	private long untilDeadline() {
		if (!this.tasks.isEmpty()) {
			return 1;
		}
		SocketHandler first = this.deadlines.peek();
		if (first == null) {
			return 0;
		}
		return Math.max(1, TimeUnit.NANOSECONDS.toMillis(first.deadlineNanos() - System.nanoTime()) + 1);
	}

}
