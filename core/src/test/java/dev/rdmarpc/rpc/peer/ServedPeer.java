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

package dev.rdmarpc.rpc.peer;

import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.flatbuffers.GatherMessage;
import dev.rdmarpc.memory.RegisteredBuffer;
import dev.rdmarpc.rpc.RpcException;
import dev.rdmarpc.rpc.RpcServer;
import dev.rdmarpc.rpc.RpcStatus;

/** Serves {@link PeerService}; what it does to the server is left to its owner. */
final class ServedPeer implements PeerService {

	private final Supplier<RpcServer> server;

	private final PeerActions actions;

	private final Set<String> keys = ConcurrentHashMap.newKeySet();

	private final AtomicInteger running = new AtomicInteger();

	private final AtomicInteger interrupted = new AtomicInteger();

	private volatile CountDownLatch release = new CountDownLatch(1);

	ServedPeer(Supplier<RpcServer> server, PeerActions actions) {
		this.server = server;
		this.actions = actions;
	}

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
	public CompletableFuture<byte[]> bytesLater(byte[] bytes) {
		return CompletableFuture.completedFuture(bytes);
	}

	@Override
	public long sum(byte[] bytes) {
		return sumOf(bytes);
	}

	static long sumOf(byte[] bytes) {
		long sum = 0;
		for (byte value : bytes) {
			sum += value;
		}
		return sum;
	}

	@Override
	public byte[] count(int length) {
		return counted(length);
	}

	static byte[] counted(int length) {
		byte[] bytes = new byte[length];
		for (int i = 0; i < length; i++) {
			bytes[i] = (byte) i;
		}
		return bytes;
	}

	@Override
	public AllTypes all(AllTypes value) {
		return value;
	}

	@Override
	public void fail(@Nullable RpcStatus status, String text) {
		throw (status != null) ? new RpcException(status, text) : new IllegalStateException(text);
	}

	@Override
	public String slow(long millis) {
		CountDownLatch latch = this.release;
		this.running.incrementAndGet();
		try {
			return latch.await(millis, TimeUnit.MILLISECONDS) ? "released" : "slept";
		}
		catch (InterruptedException ex) {
			this.interrupted.incrementAndGet();
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

	@Override
	public CompletableFuture<String> secondTime(String key) {
		return this.keys.add(key) ? new CompletableFuture<>() : CompletableFuture.completedFuture(key);
	}

	@Override
	public RegisteredBuffer buffer(RegisteredBuffer data) {
		return data;
	}

	@Override
	public Blob blob(Blob blob) {
		return new Blob(blob.name() + "!", blob.data(), blob.plain());
	}

	@Override
	public @Nullable GatherMessage message(@Nullable GatherMessage message) {
		return message;
	}

	@Override
	public State state() {
		RpcServer now = this.server.get();
		return new State(this.running.get(), this.interrupted.get(), now.activeCalls(), now.channels().size(),
				now.loops().stream().mapToLong((loop) -> loop.metrics().readBytes()).sum(), this.keys.size());
	}

	@Override
	public void release() {
		CountDownLatch latch = this.release;
		this.release = new CountDownLatch(1);
		latch.countDown();
	}

	@Override
	public CompletableFuture<Void> loseConnections() {
		return unanswered(() -> this.server.get().channels().forEach((channel) -> channel.close("lost by the test")));
	}

	@Override
	public CompletableFuture<Void> restart() {
		return unanswered(this.actions::restart);
	}

	@Override
	public CompletableFuture<Void> end() {
		return unanswered(this.actions::end);
	}

	/** The caller learns from the loss of its connection that it was done. */
	private static CompletableFuture<Void> unanswered(Runnable action) {
		new Thread(action, "peer-action").start();
		return new CompletableFuture<>();
	}

	/** What only the owner of the server can do. */
	interface PeerActions {

		void restart();

		void end();

	}

}
