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

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import org.assertj.core.api.ThrowableAssert.ThrowingCallable;

import dev.rdmarpc.memory.LeakDetection;
import dev.rdmarpc.memory.MemoryAttachment;
import dev.rdmarpc.memory.MemoryOptions;
import dev.rdmarpc.memory.RecordingHook;
import dev.rdmarpc.memory.RegisteredBuffer;
import dev.rdmarpc.memory.RegisteredMemory;
import dev.rdmarpc.verbs.WorkOpcode;
import dev.rdmarpc.verbs.WorkStatus;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A loop on a device of the test's own: what is posted is kept, what arrives is what the
 * test delivers. The body of a test runs {@linkplain #drive as driver}, so that nothing
 * else moves meanwhile. Closing it checks that nothing is outstanding.
 */
final class LoopFixture implements AutoCloseable {

	static final InetSocketAddress PEER = new InetSocketAddress(InetAddress.getLoopbackAddress(), 9);

	final RegisteredMemory memory;

	final MemoryAttachment attachment;

	private final RecordingHook hook = new RecordingHook();

	final FakeCompletionQueue completions = new FakeCompletionQueue();

	final FakeReceiveQueue receiveQueue = new FakeReceiveQueue();

	final ReceivePool receives;

	private final LoopWatcher watcher = new LoopWatcher();

	final ChannelLoop loop;

	LoopFixture() {
		this(ChannelOptions.DEFAULTS.frameBytes(), 1024, 16L << 20);
	}

	LoopFixture(int frameBytes, int receiveCapacity, long memoryBytes) {
		this(frameBytes, receiveCapacity, memoryBytes, Duration.ZERO);
	}

	LoopFixture(int frameBytes, int receiveCapacity, long memoryBytes, Duration allocationTimeout) {
		this(frameBytes, receiveCapacity, memoryBytes, allocationTimeout, LeakDetection.PARANOID);
	}

	/** Only where leaks are not looked for do messages keep memory. */
	LoopFixture(int frameBytes, int receiveCapacity, long memoryBytes, Duration allocationTimeout,
			LeakDetection leakDetection) {
		this.memory = RegisteredMemory.create(MemoryOptions.DEFAULTS.withMaxBytes(memoryBytes)
			.withInitialBytes(0)
			.withExtentBytes(1 << 20)
			.withThreadCacheBytes(0)
			.withAllocationTimeout(allocationTimeout)
			.withLeakDetection(leakDetection));
		this.attachment = this.memory.attach(this.hook);
		this.receives = new ReceivePool(this.receiveQueue, this.memory, this.attachment, frameBytes, receiveCapacity);
		this.loop = new ChannelLoop("loop-of-the-test",
				new LoopResources("none", this.memory, this.attachment, null, this.completions, this.receiveQueue,
						this.receives, SchedulerOptions.DEFAULTS, new SmallMessages()),
				PollingOptions.DEFAULTS, this.watcher, (closed) -> {
				});
	}

	/** Takes what memory there is, apart from the reserve; owned by the caller. */
	List<RegisteredBuffer> takeAllMemory() {
		List<RegisteredBuffer> all = new ArrayList<>();
		for (int bytes = 4096; bytes > 0; bytes /= 2) {
			RegisteredBuffer next = this.memory.tryAllocate(bytes);
			while (next != null) {
				all.add(next);
				next = this.memory.tryAllocate(bytes);
			}
		}
		return all;
	}

	/** Runs the body of a test as driver of the loop. */
	void drive(ThrowingCallable body) throws Exception {
		CompletableFuture<Void> outcome = new CompletableFuture<>();
		this.loop.execute(() -> {
			try {
				body.call();
				outcome.complete(null);
			}
			catch (Throwable ex) {
				outcome.completeExceptionally(ex);
			}
		});
		outcome.get(30, TimeUnit.SECONDS);
	}

	/** A channel on the side that was connected to, waiting for the handshake. */
	RpcChannel accepted(ChannelOptions options, ChannelHandler handler) {
		RpcChannel channel = new RpcChannel(this.loop, options, handler, false);
		assertThat(this.loop.add(channel)).isTrue();
		channel.attach(new FakeQueuePair(channel, this.completions));
		channel.accepting(PEER, List.of());
		return channel;
	}

	/** A channel that was connected to, after a handshake with default limits. */
	RpcChannel server(ChannelOptions options, ChannelHandler handler, int peerCredits) {
		return server(options, handler, Frames.hello(1, peerCredits, peerCredits));
	}

	/** A channel that was connected to by a peer that begins as said. */
	RpcChannel server(ChannelOptions options, ChannelHandler handler, byte[] hello) {
		RpcChannel channel = accepted(options, handler);
		deliver(channel, hello);
		assertThat(channel.state()).isEqualTo(ChannelState.OPEN);
		return channel;
	}

	/** A channel that has connected, after a handshake with default limits. */
	RpcChannel client(ChannelOptions options, ChannelHandler handler, int peerCredits) {
		return client(options, handler, peerCredits, peerCredits);
	}

	/** A channel that has connected to a peer whose credits may become more. */
	RpcChannel client(ChannelOptions options, ChannelHandler handler, int peerCredits, int peerMostCredits) {
		return client(options, handler, Frames.hello(2, peerCredits, peerMostCredits));
	}

	/** A channel that has connected to a peer that has not answered yet. */
	RpcChannel connected(ChannelOptions options, ChannelHandler handler) {
		RpcChannel channel = new RpcChannel(this.loop, options, handler, true);
		assertThat(this.loop.add(channel)).isTrue();
		channel.attach(new FakeQueuePair(channel, this.completions));
		channel.established(PEER, PEER);
		return channel;
	}

	/** A channel that has connected to a peer that answers as said. */
	RpcChannel client(ChannelOptions options, ChannelHandler handler, byte[] reply) {
		RpcChannel channel = connected(options, handler);
		deliver(channel, reply);
		assertThat(channel.state()).isEqualTo(ChannelState.OPEN);
		return channel;
	}

	static FakeQueuePair pair(RpcChannel channel) {
		return (FakeQueuePair) channel.queuePair();
	}

	/** Lets a frame of the peer arrive and the loop turn until all is done. */
	void deliver(RpcChannel channel, byte[] frame) {
		arrive(channel, frame);
		turn();
	}

	/** Lets a frame of the peer arrive, which the loop has still to take. */
	void arrive(RpcChannel channel, byte[] frame) {
		FakeQueuePair pair = pair(channel);
		FakeReceiveQueue.Receive receive = this.receiveQueue.take(frame);
		this.completions.add((completion) -> completion.set(receive.id(), WorkStatus.SUCCESS, WorkOpcode.RECEIVE,
				frame.length, 0, pair));
	}

	/** Turns the loop until there is nothing to do; driver. */
	void turn() {
		while (this.loop.turn()) {
			Thread.onSpinWait();
		}
	}

	@Override
	public void close() {
		this.loop.close();
		this.watcher.close();
		assertThat(this.loop.outstandingCalls()).as("calls outstanding").isZero();
		this.attachment.close();
		assertThat(this.memory.metrics().allocatedBytes()).as("memory outstanding").isZero();
		this.memory.close();
		assertThat(this.hook.registeredBytes()).as("bytes registered").isZero();
	}

}
