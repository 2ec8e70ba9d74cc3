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

package dev.rdmarpc.sample.load;

import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.context.event.ApplicationReadyEvent;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.event.ContextClosedEvent;
import org.springframework.context.event.EventListener;

import dev.rdmarpc.rpc.RpcException;
import dev.rdmarpc.rpc.RpcStatus;
import dev.rdmarpc.sample.load.LoadProperties.Operation;

/**
 * Runs the load: a closed loop of threads, slowed down to the rate if there is one, and a
 * thread that prints a line every second. With a rate, latency counts from the time a
 * call was due, so that a stall is not hidden by the calls it kept from being made.
 */
class LoadGenerator implements DisposableBean {

	private static final Log logger = LogFactory.getLog(LoadGenerator.class);

	private static final long SECOND = TimeUnit.SECONDS.toNanos(1);

	private final StoreOperations operations;

	private final LoadProperties properties;

	private final PrintStream out;

	private final ConfigurableApplicationContext context;

	private final LoadReport report;

	private final CountDownLatch stopped = new CountDownLatch(1);

	private final List<Thread> threads = new ArrayList<>();

	LoadGenerator(StoreOperations operations, LoadProperties properties, PrintStream out,
			ConfigurableApplicationContext context) {
		this.operations = operations;
		this.properties = properties;
		this.out = out;
		this.context = context;
		this.report = new LoadReport(properties.blobSize().toBytes());
	}

	@EventListener(ApplicationReadyEvent.class)
	void start() {
		launch("load-report", this::runAndReport);
	}

	/** The load ends before the server of the same application does. */
	@EventListener(ContextClosedEvent.class)
	void stop() {
		this.stopped.countDown();
	}

	private synchronized void launch(String name, Runnable work) {
		Thread thread = new Thread(work, name);
		this.threads.add(thread);
		thread.start();
	}

	private boolean isRunning() {
		return this.stopped.getCount() > 0;
	}

	private void runAndReport() {
		if (prepare()) {
			generate();
		}
		if (this.properties.exit()) {
			SpringApplication.exit(this.context);
		}
	}

	private void generate() {
		this.out.printf(Locale.ROOT, "Load: %d threads, %s, mix %s%n", this.properties.threads(),
				(this.properties.rate() > 0) ? this.properties.rate() + " calls/s" : "as fast as possible",
				this.properties.mix());
		for (int i = 0; i < this.properties.threads(); i++) {
			int number = i;
			launch("load-" + i, () -> call(number));
		}
		waitFor(this.properties.warmup().toNanos());
		this.report.restart();
		long began = System.nanoTime();
		long end = this.properties.duration().isZero() ? Long.MAX_VALUE : this.properties.duration().toNanos();
		long last = began;
		for (long now = began; isRunning() && now - began < end; now = System.nanoTime()) {
			waitFor(Math.min(SECOND, end - (now - began)));
			long printed = System.nanoTime();
			this.report.printProgress(this.out, Math.round((printed - began) / (double) SECOND),
					(printed - last) / (double) SECOND);
			last = printed;
		}
		this.stopped.countDown();
		this.report.printSummary(this.out, (last - began) / (double) SECOND);
	}

	/** Fills the store, as soon as it is there; whether it is filled. */
	private boolean prepare() {
		while (isRunning()) {
			try {
				this.operations.prepare();
				return true;
			}
			catch (RpcException ex) {
				if (ex.status() != RpcStatus.UNAVAILABLE && ex.status() != RpcStatus.DEADLINE_EXCEEDED) {
					this.out.println("No load, since the store cannot be filled: " + ex.getMessage());
					return false;
				}
				this.out.println("Waiting for the store: " + ex.getMessage());
				waitFor(SECOND);
			}
		}
		return false;
	}

	private void waitFor(long nanos) {
		try {
			boolean ended = this.stopped.await(nanos, TimeUnit.NANOSECONDS);
			if (ended) {
				logger.debug("Stopped while waiting");
			}
		}
		catch (InterruptedException ex) {
			this.stopped.countDown();
		}
	}

	private void call(int number) {
		SplittableRandom random = new SplittableRandom(number);
		long interval = (this.properties.rate() > 0) ? this.properties.threads() * SECOND / this.properties.rate() : 0;
		long due = System.nanoTime() + interval * number / this.properties.threads();
		while (isRunning()) {
			if (interval > 0) {
				due += interval;
				for (long early = due - System.nanoTime(); early > 0 && isRunning(); early = due - System.nanoTime()) {
					LockSupport.parkNanos(early);
				}
			}
			else {
				due = System.nanoTime();
			}
			call(this.operations.choose(random), random, due);
		}
	}

	private void call(Operation operation, SplittableRandom random, long since) {
		try {
			this.operations.run(operation, random);
			this.report.succeeded(operation, System.nanoTime() - since);
		}
		catch (RpcException ex) {
			if (isRunning()) {
				this.report.failed(ex.status().name());
				// no use in failing a million times a second
				LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(1));
			}
		}
	}

	@Override
	public void destroy() throws InterruptedException {
		this.stopped.countDown();
		List<Thread> running;
		synchronized (this) {
			running = List.copyOf(this.threads);
		}
		for (Thread thread : running) {
			if (thread != Thread.currentThread()) {
				thread.join(TimeUnit.SECONDS.toMillis(5));
			}
		}
		this.operations.close();
	}

}
