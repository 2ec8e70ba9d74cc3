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

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** Serves {@link Echo} and lets tests watch it. */
class EchoService implements Echo {

	final AtomicInteger touched = new AtomicInteger();

	final CountDownLatch interrupted = new CountDownLatch(1);

	final CountDownLatch release = new CountDownLatch(1);

	final AtomicInteger running = new AtomicInteger();

	@Override
	public String echo(String text) {
		return text;
	}

	@Override
	public String echoOnExecutor(String text) {
		return text;
	}

	@Override
	public CompletableFuture<String> echoAsync(String text) {
		return CompletableFuture.completedFuture(text);
	}

	@Override
	public byte[] bytes(byte[] bytes) {
		return bytes;
	}

	@Override
	public int add(int a, int b) {
		return a + b;
	}

	@Override
	public void touch() {
		this.touched.incrementAndGet();
	}

	@Override
	public String fail(String kind) {
		if (kind.equals("rpc")) {
			throw new RpcException(RpcStatus.NOT_FOUND, "no such thing");
		}
		throw new IllegalStateException("boom");
	}

	@Override
	public String slow(long millis) {
		this.running.incrementAndGet();
		try {
			boolean released = this.release.await(millis, TimeUnit.MILLISECONDS);
			return released ? "released" : "slept";
		}
		catch (InterruptedException ex) {
			this.interrupted.countDown();
			throw new RpcException(RpcStatus.CANCELLED, "interrupted");
		}
		finally {
			this.running.decrementAndGet();
		}
	}

	@Override
	public CompletableFuture<Void> never() {
		return new CompletableFuture<>();
	}

	/** Where a service that calls others finds them. */
	Echo next(Echo echo) {
		return this;
	}

	@Override
	public Point move(Point from, int dx) {
		return new Point(from.x() + dx, from.y(), from.label());
	}

}
