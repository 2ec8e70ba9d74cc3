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

package dev.rdmarpc.verbs.shm;

import java.io.IOException;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.Pipe;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import dev.rdmarpc.Await;
import dev.rdmarpc.NoThread;
import dev.rdmarpc.verbs.CompletionQueue;
import dev.rdmarpc.verbs.ConnectOptions;
import dev.rdmarpc.verbs.ConnectionListener;
import dev.rdmarpc.verbs.ListenOptions;
import dev.rdmarpc.verbs.ProtectionDomain;
import dev.rdmarpc.verbs.QueuePair;
import dev.rdmarpc.verbs.QueuePairListener;
import dev.rdmarpc.verbs.QueuePairOptions;
import dev.rdmarpc.verbs.QueuePairState;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** Whatever is thrown on the connection thread ends what it concerns and nothing else. */
class SetupFailureTests {

	private Path directory;

	private SharedMemoryDevice device;

	@BeforeEach
	void openDevice() throws Exception {
		this.directory = Station.newDirectory();
		this.device = (SharedMemoryDevice) new SharedMemoryProvider(
				SharedMemoryOptions.DEFAULTS.withDirectory(this.directory))
			.openDevice(null);
	}

	@AfterEach
	void closeDevice() throws Exception {
		this.device.close();
		assertThat(Station.files(this.directory)).isEmpty();
		Files.deleteIfExists(this.directory.resolve(".lock"));
		Files.delete(this.directory);
	}

	static Stream<Throwable> failures() {
		return Stream.of(new OutOfMemoryError("on purpose"), new StackOverflowError("on purpose"),
				new IllegalStateException("on purpose"));
	}

	@SuppressWarnings("unchecked")
	private static <T extends Throwable> void sneak(Throwable ex) throws T {
		throw (T) ex;
	}

	@ParameterizedTest
	@MethodSource("failures")
	void aHandlerThatCannotEvenFailIsNotCalledAgain(Throwable failure) throws Exception {
		ConnectionThread thread = this.device.connectionThread();
		Pipe pipe = Pipe.open();
		pipe.source().configureBlocking(false);
		pipe.sink().write(ByteBuffer.allocate(1));
		FailingHandler reader = new FailingHandler(Long.MAX_VALUE / 2, failure);
		FailingHandler timer = new FailingHandler(0, failure);
		thread.execute(() -> SetupFailureTests.<RuntimeException>sneak(failure));
		thread.execute(() -> {
			thread.add(timer);
			try {
				thread.register(pipe.source(), SelectionKey.OP_READ, reader);
			}
			catch (IOException ex) {
				throw new AssertionError(ex);
			}
		});
		Await.latch(reader.called);
		Await.latch(timer.called);
		CountDownLatch later = new CountDownLatch(1);
		thread.execute(() -> thread.execute(later::countDown));
		Await.latch(later);
		assertThat(reader.calls).hasValue(1);
		assertThat(pipe.source().isOpen()).isFalse();
		pipe.sink().close();
	}

	@Test
	void aListenerWithoutAConnectionThreadLeavesNothing() throws Exception {
		NoThread.during(() -> assertThatExceptionOfType(OutOfMemoryError.class).isThrownBy(() -> this.device
			.listen(Station.loopback(0), ListenOptions.DEFAULTS, (request) -> request.reject(new byte[0]))));
		assertThat(Station.files(this.directory)).isEmpty();
	}

	@Test
	void anAttemptWithoutAConnectionThreadLeavesItsQueuePairAsItWas() {
		ProtectionDomain domain = this.device.allocateProtectionDomain();
		CompletionQueue completionQueue = this.device.createCompletionQueue(64);
		QueuePair queuePair = domain
			.createQueuePair(new QueuePairOptions(completionQueue, null, 8, 8, 4, 4, QueuePairListener.NONE));
		NoThread.during(() -> {
			assertThatExceptionOfType(OutOfMemoryError.class)
				.isThrownBy(() -> this.device.connect(queuePair, Station.loopback(1), ConnectOptions.DEFAULTS));
			assertThat(queuePair.state()).isEqualTo(QueuePairState.INITIALIZED);
			queuePair.close();
		});
		completionQueue.close();
		domain.close();
	}

	/** Handlers keep queue pairs, of which a process cannot have any number. */
	@Test
	void oneThatSaysNothingKeepsNothingOfThoseThatHaveFinishedBehindIt() throws Exception {
		ListenOptions patient = new ListenOptions(1024, 64, 1024, Duration.ofMinutes(5).toNanos());
		try (ConnectionListener listener = this.device.listen(Station.loopback(0), patient,
				(request) -> request.reject(new byte[0])); SocketChannel silent = connect(listener)) {
			assertThat(silent.isConnected()).isTrue();
			for (int i = 0; i < 20; i++) {
				try (SocketChannel peer = connect(listener)) {
					new SetupFrame(SetupFrame.Kind.REQUEST, 1, 1, 1, new byte[0], "").write(peer);
					assertThat(peer.read(ByteBuffer.allocate(1))).as("of the rejection").isOne();
				}
			}
			Await.until(() -> held() == 2); // the listener and the one that says nothing
		}
	}

	private SocketChannel connect(ConnectionListener listener) throws IOException {
		return SocketChannel
			.open(UnixDomainSocketAddress.of(this.directory.resolve(listener.localAddress().getPort() + ".socket")));
	}

	private int held() {
		ConnectionThread thread = this.device.connectionThread();
		return CompletableFuture.supplyAsync(thread::held, thread::execute).join();
	}

	/** A handler that fails in all it does. */
	private static final class FailingHandler extends SetupHandler {

		private final Throwable failure;

		private final CountDownLatch called = new CountDownLatch(1);

		private final AtomicInteger calls = new AtomicInteger();

		FailingHandler(long delayNanos, Throwable failure) {
			super(System.nanoTime() + delayNanos);
			this.failure = failure;
		}

		private void fail() {
			this.called.countDown();
			SetupFailureTests.<RuntimeException>sneak(this.failure);
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
