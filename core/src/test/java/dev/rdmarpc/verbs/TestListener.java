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

import java.net.InetSocketAddress;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** A listener whose requests are answered by the test. */
final class TestListener implements ConnectionRequestHandler, AutoCloseable {

	private static final long SLICE_MILLIS = 100;

	private final LinkedBlockingQueue<ConnectionRequest> requests = new LinkedBlockingQueue<>();

	private final ConnectionListener listener;

	TestListener(VerbsDevice device, InetSocketAddress address, ListenOptions options) {
		this.listener = device.listen(address, options, this);
	}

	@Override
	public void onConnectionRequest(ConnectionRequest request) {
		this.requests.add(request);
	}

	InetSocketAddress address() {
		return this.listener.localAddress();
	}

	ConnectionRequest awaitRequest() {
		try {
			ConnectionRequest request = this.requests.poll(VerbsFixture.DEADLINE.toNanos(), TimeUnit.NANOSECONDS);
			if (request == null) {
				throw new AssertionError("no connection request within " + VerbsFixture.DEADLINE);
			}
			return request;
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new AssertionError("interrupted", ex);
		}
	}

	/** Waits for the request of an attempt, which may fail before there is one. */
	ConnectionRequest awaitRequest(CompletableFuture<?> attempt) {
		long start = System.nanoTime();
		try {
			while (System.nanoTime() - start < VerbsFixture.DEADLINE.toNanos()) {
				ConnectionRequest request = this.requests.poll(SLICE_MILLIS, TimeUnit.MILLISECONDS);
				if (request != null) {
					return request;
				}
				if (attempt.isCompletedExceptionally()) {
					throw new AssertionError("no connection request, the attempt has failed", failureOf(attempt));
				}
			}
			throw new AssertionError("no connection request within " + VerbsFixture.DEADLINE);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new AssertionError("interrupted", ex);
		}
	}

	private static Throwable failureOf(CompletableFuture<?> attempt) throws InterruptedException {
		try {
			return new AssertionError("has not failed but brought " + attempt.get());
		}
		catch (ExecutionException ex) {
			return ex.getCause();
		}
	}

	int pendingRequests() {
		return this.requests.size();
	}

	@Override
	public void close() {
		this.listener.close();
	}

}
