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

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.lang.management.ThreadMXBean;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntConsumer;
import java.util.stream.Stream;

import dev.rdmarpc.verbs.CompletionQueue;
import dev.rdmarpc.verbs.ConnectOptions;
import dev.rdmarpc.verbs.ListenOptions;
import dev.rdmarpc.verbs.MemoryRegion;
import dev.rdmarpc.verbs.ProtectionDomain;
import dev.rdmarpc.verbs.QueuePair;
import dev.rdmarpc.verbs.QueuePairListener;
import dev.rdmarpc.verbs.QueuePairOptions;
import dev.rdmarpc.verbs.VerbsDevice;
import dev.rdmarpc.verbs.WorkCompletion;
import dev.rdmarpc.verbs.WorkRequest;
import dev.rdmarpc.verbs.WorkStatus;

/**
 * A process that accepts whoever comes and tells how many messages it has got. Its
 * standard input is its command line: each command is answered by a {@link Report}, the
 * end of the input ends it.
 */
public final class AcceptingProcess {

	static final String READY = "ready ";

	static final String REPORT = "report ";

	static final String USE_UP_DIRECT_MEMORY = "use up direct memory";

	static final String USE_UP_HEAP = "use up heap";

	static final String FREE = "free";

	private static final int LEFT_OF_THE_HEAP = 64 * 1024;

	private final VerbsDevice device = new IwarpProvider().openDevice(null);

	private final ProtectionDomain domain = this.device.allocateProtectionDomain();

	private final CompletionQueue completionQueue = this.device.createCompletionQueue(4096);

	private final MemoryRegion target = this.domain.registerMemory(ByteBuffer.allocateDirect(64 * 1024),
			Endpoint.ALL_ACCESS);

	private final List<Object> ballast = new ArrayList<>();

	private final AtomicInteger received = new AtomicInteger();

	private volatile boolean ended;

	private AcceptingProcess() {
	}

	public static void main(String[] args) throws Exception {
		loadClasses();
		new AcceptingProcess().run();
	}

	/**
	 * Loads what a process that was started from an open jar would find without a
	 * descriptor.
	 */
	private static void loadClasses() throws Exception {
		Path root = Path.of(IwarpProvider.class.getProtectionDomain().getCodeSource().getLocation().toURI());
		try (Stream<Path> files = Files.walk(root.resolve("dev/rdmarpc"))) {
			for (Path file : (Iterable<Path>) files::iterator) {
				String name = root.relativize(file).toString();
				if (name.startsWith("dev/rdmarpc/verbs") && name.endsWith(".class") && !name.contains("-info")
						&& !name.contains("disni")) {
					Class.forName(name.substring(0, name.length() - ".class".length()).replace('/', '.'));
				}
			}
		}
	}

	private void run() throws IOException {
		Thread poller = new Thread(this::poll, "poller");
		poller.start();
		ListenOptions options = new ListenOptions(1024, 256, 4096, Duration.ofSeconds(60).toNanos());
		var listener = this.device.listen(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), options,
				(request) -> request.accept(queuePair(), ConnectOptions.DEFAULTS));
		cpuMillis(); // while there are descriptors left for the library that it needs
		say(READY + listener.localAddress().getPort());
		BufferedReader commands = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
		for (String line = commands.readLine(); line != null; line = commands.readLine()) {
			obey(line);
			say(REPORT + this.received + " " + cpuMillis() + " " + (this.device.isRunning() && poller.isAlive()));
		}
		this.ended = true;
		listener.close();
	}

	private void obey(String command) {
		switch (command) {
			case USE_UP_DIRECT_MEMORY -> useUp((bytes) -> this.ballast.add(ByteBuffer.allocateDirect(bytes)), 1);
			case USE_UP_HEAP -> useUp((bytes) -> this.ballast.add(new byte[bytes]), LEFT_OF_THE_HEAP);
			case FREE -> this.ballast.clear();
			default -> {
			}
		}
	}

	private static void useUp(IntConsumer allocation, int least) {
		for (int bytes = 1 << 20; bytes >= least; bytes /= 2) {
			try {
				while (true) {
					allocation.accept(bytes);
				}
			}
			catch (OutOfMemoryError ex) {
				// Smaller pieces may fit.
			}
		}
	}

	@SuppressWarnings("SystemOut") // the parent reads it
	private static void say(String line) {
		System.out.println(line);
	}

	private QueuePair queuePair() {
		QueuePair queuePair = this.domain
			.createQueuePair(new QueuePairOptions(this.completionQueue, null, 4, 4, 1, 1, QueuePairListener.NONE));
		for (int i = 0; i < 4; i++) {
			queuePair.postReceive(new WorkRequest(1).receive(i).addSegment(this.target, 0, this.target.lengthBytes()));
		}
		return queuePair;
	}

	/** What the provider's threads have used of the processor. */
	private static long cpuMillis() {
		ThreadMXBean threads = ManagementFactory.getThreadMXBean();
		long nanos = 0;
		for (ThreadInfo thread : threads.getThreadInfo(threads.getAllThreadIds())) {
			if (thread != null
					&& (thread.getThreadName().startsWith("rdma-") || thread.getThreadName().equals("poller"))) {
				nanos += threads.getThreadCpuTime(thread.getThreadId());
			}
		}
		return TimeUnit.NANOSECONDS.toMillis(nanos);
	}

	private void poll() {
		WorkCompletion[] completions = { new WorkCompletion(), new WorkCompletion() };
		while (!this.ended) {
			int count = this.completionQueue.poll(completions);
			for (int i = 0; i < count; i++) {
				if (completions[i].status() == WorkStatus.SUCCESS) {
					this.received.getAndIncrement();
				}
			}
			if (count == 0) {
				this.completionQueue.requestNotification(false);
				this.completionQueue.await(Duration.ofMillis(20).toNanos());
			}
		}
	}

	/**
	 * How the process is.
	 *
	 * @param received messages received
	 * @param cpuMillis what the provider's threads have used of the processor
	 * @param running whether they all run
	 */
	record Report(int received, long cpuMillis, boolean running) {

		static Report parse(String line) {
			String[] values = line.substring(REPORT.length()).split(" ", -1);
			return new Report(Integer.parseInt(values[0]), Long.parseLong(values[1]), Boolean.parseBoolean(values[2]));
		}

	}

}
