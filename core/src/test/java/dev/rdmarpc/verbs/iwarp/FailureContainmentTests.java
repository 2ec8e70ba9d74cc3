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
import java.lang.ref.WeakReference;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.nio.channels.Pipe;
import java.nio.channels.SelectionKey;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import dev.rdmarpc.Await;
import dev.rdmarpc.NoThread;
import dev.rdmarpc.verbs.ConnectOptions;
import dev.rdmarpc.verbs.ConnectionInfo;
import dev.rdmarpc.verbs.ConnectionListener;
import dev.rdmarpc.verbs.ListenOptions;
import dev.rdmarpc.verbs.MemoryRegion;
import dev.rdmarpc.verbs.QueuePairFault;
import dev.rdmarpc.verbs.QueuePairListener;
import dev.rdmarpc.verbs.QueuePairOptions;
import dev.rdmarpc.verbs.QueuePairState;
import dev.rdmarpc.verbs.WorkCompletion;
import dev.rdmarpc.verbs.WorkRequest;
import dev.rdmarpc.verbs.WorkStatus;
import dev.rdmarpc.verbs.iwarp.rdmap.ConnectionParameters;
import dev.rdmarpc.verbs.iwarp.wire.Fpdu;
import dev.rdmarpc.verbs.iwarp.wire.ReadyToReceive;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Whatever is thrown, on a connection, by a listener or on the connection thread: it ends
 * what it concerns and nothing else.
 */
class FailureContainmentTests {

	private final IwarpDevice device = (IwarpDevice) new IwarpProvider().openDevice(null);

	private final IwarpProtectionDomain domain = (IwarpProtectionDomain) this.device.allocateProtectionDomain();

	private final IwarpCompletionQueue completionQueue = (IwarpCompletionQueue) this.device.createCompletionQueue(64);

	private final List<QueuePairFault> faults = new ArrayList<>();

	private final WorkCompletion[] polled = { new WorkCompletion() };

	@AfterEach
	void close() {
		this.completionQueue.close();
		this.domain.close();
		this.device.close();
	}

	static Stream<Throwable> failures() {
		return Stream.of(new OutOfMemoryError("on purpose"), new StackOverflowError("on purpose"),
				new AssertionError("on purpose"), new IllegalStateException("on purpose"),
				new Exception("checked, on purpose"));
	}

	@SuppressWarnings("unchecked")
	private static <T extends Throwable> void sneak(Throwable ex) throws T {
		throw (T) ex;
	}

	private IwarpQueuePair queuePair(QueuePairListener listener) {
		return (IwarpQueuePair) this.domain
			.createQueuePair(new QueuePairOptions(this.completionQueue, null, 8, 8, 4, 4, listener));
	}

	/** Attaches a script as the connection of a queue pair that is polled. */
	private void attach(IwarpQueuePair queuePair, ScriptedStream stream, @Nullable Runnable ended) {
		Reactor reactor = this.completionQueue.engine();
		reactor.lock();
		try {
			ConnectionParameters parameters = new ConnectionParameters(true, false, 1000, 2, 2, ReadyToReceive.NONE);
			ConnectionLifecycle lifecycle = queuePair.lifecycle();
			lifecycle.attach(lifecycle.newConnection(stream, parameters), ended);
			lifecycle.advance();
		}
		finally {
			reactor.unlock();
		}
	}

	@ParameterizedTest
	@MethodSource("failures")
	void whatFailsOnAConnectionEndsThatConnection(Throwable failure) {
		IwarpQueuePair failing = queuePair((ended, fault) -> this.faults.add(fault));
		IwarpQueuePair good = queuePair(QueuePairListener.NONE);
		MemoryRegion target = this.domain.registerMemory(ByteBuffer.allocateDirect(64), Endpoint.ALL_ACCESS);
		good.postReceive(new WorkRequest(1).receive(7).addSegment(target, 0, 64));
		attach(failing, new ScriptedStream(ByteBuffer.allocate(10), 1) {
			@Override
			public long read(ByteBuffer[] targets, int offset, int length) {
				FailureContainmentTests.<RuntimeException>sneak(failure);
				return 0;
			}
		}, null);
		assertThat(this.completionQueue.poll(this.polled)).isZero();
		assertThat(this.faults).singleElement()
			.satisfies((fault) -> assertThat(fault.detail()).contains("unexpected failure").contains("on purpose"));
		assertThat(failing.state()).isEqualTo(QueuePairState.ERROR);
		attach(good, new ScriptedStream(ByteBuffer.wrap(Fpdu.frame(Fpdu.send(1, new byte[8]), false)), 100), null);
		assertThat(this.completionQueue.poll(this.polled)).isOne();
		assertThat(this.polled[0].status()).isEqualTo(WorkStatus.SUCCESS);
	}

	@ParameterizedTest
	@MethodSource("failures")
	void aConnectionThatCannotBeLeftAtOnceIsLeftLater(Throwable failure) throws Exception {
		try (ServerSocketChannel server = ServerSocketChannel.open()
			.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
				SocketChannel peer = SocketChannel.open(server.getLocalAddress())) {
			AtomicInteger attempts = new AtomicInteger();
			IwarpQueuePair queuePair = queuePair((ended, fault) -> this.faults.add(fault));
			queuePair.lifecycle().beginConnecting();
			ByteStream stream = accept(server);
			queuePair.lifecycle()
				.established(stream, new ConnectionParameters(true, false, 1000, 2, 2, ReadyToReceive.NONE), () -> {
					if (attempts.incrementAndGet() < 3) {
						FailureContainmentTests.<RuntimeException>sneak(failure);
					}
				});
			peer.shutdownOutput();
			long deadline = System.nanoTime() + Endpoint.DEADLINE.toNanos();
			while (this.faults.isEmpty() && System.nanoTime() - deadline < 0) {
				this.completionQueue.await(Duration.ofMillis(1).toNanos());
				this.completionQueue.poll(this.polled);
			}
			assertThat(this.faults).hasSize(1);
			assertThat(attempts).hasValue(3);
			assertThat(peer.read(ByteBuffer.allocate(1))).as("end of stream").isNegative();
			queuePair.close();
		}
	}

	@ParameterizedTest
	@MethodSource("failures")
	void aListenerThatFailsLeavesTheCompletionQueueToOthers(Throwable failure) throws Exception {
		IwarpQueuePair failing = queuePair((ended, fault) -> FailureContainmentTests.<RuntimeException>sneak(failure));
		IwarpQueuePair other = queuePair((ended, fault) -> this.faults.add(fault));
		attach(failing, new ScriptedStream(ByteBuffer.allocate(0), 1), null);
		attach(other, new ScriptedStream(ByteBuffer.allocate(0), 1), null);
		this.completionQueue.poll(this.polled);
		assertThat(this.faults).as("told about the other connection").hasSize(1);
		CompletableFuture<Integer> elsewhere = new CompletableFuture<>();
		Thread thread = new Thread(() -> elsewhere.complete(this.completionQueue.poll(new WorkCompletion[1])),
				"another-poller");
		thread.start();
		assertThat(elsewhere.get(Endpoint.DEADLINE.toSeconds(), TimeUnit.SECONDS)).isZero();
		thread.join();
		failing.close();
	}

	@ParameterizedTest
	@MethodSource("failures")
	void nothingEndsTheConnectionThread(Throwable failure) throws Exception {
		ConnectionThread thread = this.device.connectionThread();
		Pipe pipe = Pipe.open();
		pipe.source().configureBlocking(false);
		pipe.sink().write(ByteBuffer.allocate(1));
		FailingHandler reader = new FailingHandler(Long.MAX_VALUE / 2, failure);
		FailingHandler timer = new FailingHandler(0, failure);
		thread.execute(() -> FailureContainmentTests.<RuntimeException>sneak(failure));
		thread.execute(() -> {
			Thread.currentThread().interrupt();
			thread.postpone(timer, System.nanoTime());
			try {
				thread.register(pipe.source(), SelectionKey.OP_READ, reader);
			}
			catch (IOException ex) {
				throw new AssertionError(ex);
			}
		});
		assertThat(reader.called.await(Endpoint.DEADLINE.toSeconds(), TimeUnit.SECONDS)).isTrue();
		assertThat(timer.called.await(Endpoint.DEADLINE.toSeconds(), TimeUnit.SECONDS)).isTrue();
		CountDownLatch later = new CountDownLatch(1);
		thread.execute(() -> thread.execute(later::countDown));
		assertThat(later.await(Endpoint.DEADLINE.toSeconds(), TimeUnit.SECONDS)).isTrue();
		assertThat(reader.calls).as("calls of a handler that cannot even fail").hasValue(1);
		assertThat(pipe.source().isOpen()).isFalse();
		assertThat(this.device.isRunning()).isTrue();
		pipe.sink().close();
	}

	@Test
	void aListenerWithoutAConnectionThreadLeavesNothing() throws Exception {
		InetSocketAddress address = freeAddress();
		AtomicInteger asked = new AtomicInteger();
		NoThread.during(() -> assertThatExceptionOfType(OutOfMemoryError.class)
			.isThrownBy(() -> this.device.listen(address, ListenOptions.DEFAULTS, (request) -> {
				asked.incrementAndGet();
				request.reject(new byte[0]);
			})));
		try (ConnectionListener listener = this.device.listen(address, ListenOptions.DEFAULTS,
				(request) -> request.reject(new byte[0]))) {
			assertRejected(queuePair(QueuePairListener.NONE), listener);
			assertThat(asked).as("requests to the listener that failed").hasValue(0);
		}
	}

	@Test
	void anAttemptWithoutAConnectionThreadLeavesItsQueuePairAsItWas() throws Exception {
		IwarpDevice peer = (IwarpDevice) new IwarpProvider().openDevice(null);
		try (ConnectionListener listener = peer.listen(freeAddress(), ListenOptions.DEFAULTS,
				(request) -> request.reject(new byte[0]))) {
			IwarpQueuePair closed = queuePair(QueuePairListener.NONE);
			IwarpQueuePair used = queuePair(QueuePairListener.NONE);
			NoThread.during(() -> {
				for (IwarpQueuePair queuePair : List.of(closed, used)) {
					assertThatExceptionOfType(OutOfMemoryError.class).isThrownBy(
							() -> this.device.connect(queuePair, listener.localAddress(), ConnectOptions.DEFAULTS));
					assertThat(queuePair.state()).isEqualTo(QueuePairState.INITIALIZED);
				}
				closed.close();
			});
			assertRejected(used, listener);
		}
		peer.close();
	}

	@Test
	void anAnswerThatCannotBeMadeFailsItsFuture() throws Exception {
		IwarpDevice unlucky = new IwarpDevice("unlucky", IwarpOptions.DEFAULTS,
				FailureContainmentTests::withoutLocalAddress);
		CompletableFuture<CompletableFuture<ConnectionInfo>> answered = new CompletableFuture<>();
		try (Endpoint server = new Endpoint(unlucky);
				ConnectionListener listener = unlucky.listen(freeAddress(), ListenOptions.DEFAULTS,
						(request) -> answered.complete(request.accept(server.queuePair, ConnectOptions.DEFAULTS)))) {
			assertThat(this.device.connect(queuePair(QueuePairListener.NONE), listener.localAddress(),
					ConnectOptions.DEFAULTS))
				.failsWithin(Endpoint.DEADLINE);
			assertThat(answered.get(Endpoint.DEADLINE.toSeconds(), TimeUnit.SECONDS)).failsWithin(Endpoint.DEADLINE)
				.withThrowableOfType(ExecutionException.class)
				.withMessageContaining("was not established: java.net.SocketException: thrown on purpose");
			Await.until(() -> server.queuePair.state() == QueuePairState.INITIALIZED);
		}
		unlucky.close();
	}

	/** As where there is no descriptor to look the interface up with. */
	private static ByteStream withoutLocalAddress(ByteStream below) {
		return (ByteStream) Proxy.newProxyInstance(ByteStream.class.getClassLoader(),
				new Class<?>[] { ByteStream.class }, (proxy, method, arguments) -> {
					if (method.getName().equals("localAddress")) {
						throw new SocketException("thrown on purpose");
					}
					try {
						return method.invoke(below, arguments);
					}
					catch (InvocationTargetException ex) {
						throw ex.getCause();
					}
				});
	}

	private void assertRejected(IwarpQueuePair queuePair, ConnectionListener listener) {
		assertThat(this.device.connect(queuePair, listener.localAddress(), ConnectOptions.DEFAULTS))
			.failsWithin(Endpoint.DEADLINE)
			.withThrowableOfType(ExecutionException.class)
			.withMessageContaining("rejected the connection");
	}

	private static InetSocketAddress freeAddress() throws IOException {
		try (ServerSocketChannel free = ServerSocketChannel.open()) {
			return (InetSocketAddress) free.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
				.getLocalAddress();
		}
	}

	@Test
	void pollingKeepsNoConnectionThatIsClosed() throws Exception {
		WeakReference<IwarpQueuePair> gone = connectAndClose();
		long deadline = System.nanoTime() + Endpoint.DEADLINE.toNanos();
		while (gone.get() != null && System.nanoTime() - deadline < 0) {
			// deadlines of frames are looked at once in so many polls
			for (int i = 0; i < 16; i++) {
				this.completionQueue.poll(this.polled);
			}
			System.gc();
		}
		assertThat(gone.get()).as("a queue pair that is closed, kept by %s", this.completionQueue).isNull();
	}

	private WeakReference<IwarpQueuePair> connectAndClose() throws Exception {
		try (ServerSocketChannel server = ServerSocketChannel.open()
			.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
				SocketChannel first = SocketChannel.open(server.getLocalAddress());
				SocketChannel second = SocketChannel.open(server.getLocalAddress())) {
			IwarpQueuePair ending = establish(server);
			IwarpQueuePair ready = establish(server);
			assertThat(first.isConnected()).isTrue();
			second.write(ByteBuffer.wrap(new byte[] { 0 }));
			ending.close();
			this.completionQueue.poll(this.polled);
			ready.close();
			this.completionQueue.poll(this.polled);
			return new WeakReference<>(ready);
		}
	}

	private IwarpQueuePair establish(ServerSocketChannel server) throws IOException {
		IwarpQueuePair queuePair = queuePair(QueuePairListener.NONE);
		queuePair.lifecycle().beginConnecting();
		ByteStream stream = accept(server);
		queuePair.lifecycle()
			.established(stream, new ConnectionParameters(true, false, 1000, 2, 2, ReadyToReceive.NONE), null);
		return queuePair;
	}

	private static ByteStream accept(ServerSocketChannel server) throws IOException {
		TcpStream stream = Objects.requireNonNull(TcpStream.accept(server));
		stream.prepare(IwarpOptions.DEFAULTS);
		return stream;
	}

	/** A handler that fails in all it does. */
	private static final class FailingHandler extends SocketHandler {

		private final Throwable failure;

		private final CountDownLatch called = new CountDownLatch(1);

		private final AtomicInteger calls = new AtomicInteger();

		FailingHandler(long delayNanos, Throwable failure) {
			super(System.nanoTime() + delayNanos);
			this.failure = failure;
		}

		private void fail() {
			this.called.countDown();
			FailureContainmentTests.<RuntimeException>sneak(this.failure);
		}

		@Override
		void ready() {
			this.calls.incrementAndGet();
			fail();
		}

		@Override
		void timedOut() {
			fail();
		}

		@Override
		void failed(Throwable cause) {
			fail();
		}

	}

}
