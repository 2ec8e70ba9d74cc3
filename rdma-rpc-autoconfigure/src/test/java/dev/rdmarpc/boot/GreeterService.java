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

package dev.rdmarpc.boot;

import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;

import dev.rdmarpc.rpc.RpcException;
import dev.rdmarpc.rpc.RpcStatus;

/** Serves {@link Greeter}. */
@RdmaService
public class GreeterService implements Greeter {

	private final Map<String, CountDownLatch> latches = new ConcurrentHashMap<>();

	private final CountDownLatch entered = new CountDownLatch(1);

	@Override
	public String greet(String name) {
		return "Hello " + name;
	}

	@Override
	public CompletableFuture<String> greetLater(String name) {
		return CompletableFuture.supplyAsync(() -> "Later " + name);
	}

	@Override
	public String fail(String message) {
		if (message.isEmpty()) {
			throw new IllegalStateException("empty");
		}
		throw new RpcException(RpcStatus.NOT_FOUND, message);
	}

	@Override
	public void await(String latch) throws InterruptedException {
		this.entered.countDown();
		latch(latch).await();
	}

	@Override
	public byte[] reverse(byte[] bytes) {
		byte[] reversed = new byte[bytes.length];
		for (int i = 0; i < bytes.length; i++) {
			reversed[i] = bytes[bytes.length - 1 - i];
		}
		return reversed;
	}

	/** Released by tests. */
	public CountDownLatch latch(String name) {
		return this.latches.computeIfAbsent(name, (key) -> new CountDownLatch(1));
	}

	/** Down when a call is waiting. */
	public CountDownLatch entered() {
		return this.entered;
	}

}
