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

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * One end of a connection under test: a queue pair, the accounts of its queues, and how
 * often its end was announced. The methods named after opcodes post one request and ring
 * the doorbell.
 */
final class VerbsEndpoint {

	private final VerbsSide side;

	private final String name;

	private final CompletionCollector collector;

	private final int sendDepth;

	private final @Nullable SharedReceives sharedReceives;

	private final QueuePair queuePair;

	private final AtomicLong nextId;

	private final WorkLedger sends;

	private final WorkLedger receives;

	private final WorkRequest sendRequest;

	private final WorkRequest receiveRequest;

	private final AtomicInteger disconnects = new AtomicInteger();

	private volatile @Nullable QueuePairFault announced;

	private volatile boolean connected;

	private volatile boolean unaccounted;

	private volatile long closedNanos;

	private volatile Consumer<Completed> observer = (completed) -> {
	};

	VerbsEndpoint(VerbsSide side, String name, int number, ProtectionDomain domain, CompletionCollector collector,
			EndpointOptions options) {
		this.side = side;
		this.name = name;
		this.collector = collector;
		this.sendDepth = options.sendDepth();
		this.sharedReceives = options.sharedReceives();
		this.nextId = new AtomicLong(((long) number << 40) | Long.MIN_VALUE);
		this.sends = new WorkLedger(name + " sends", true);
		this.receives = (this.sharedReceives != null) ? this.sharedReceives.ledger()
				: new WorkLedger(name + " receives", true);
		this.sendRequest = new WorkRequest(options.segments());
		this.receiveRequest = new WorkRequest(options.segments());
		QueuePairListener listener = (disconnected, fault) -> {
			this.announced = fault;
			this.disconnects.incrementAndGet();
			options.listener().onDisconnected(disconnected, fault);
		};
		this.queuePair = domain.createQueuePair(new QueuePairOptions(collector.queue(),
				(this.sharedReceives != null) ? this.sharedReceives.queue() : null, options.sendDepth(),
				options.receiveDepth(), options.segments(), options.segments(), listener));
		collector.attach(this);
	}

	String name() {
		return this.name;
	}

	VerbsSide side() {
		return this.side;
	}

	QueuePair queuePair() {
		return this.queuePair;
	}

	CompletionCollector collector() {
		return this.collector;
	}

	boolean sharesReceives() {
		return this.sharedReceives != null;
	}

	int sendDepth() {
		return this.sendDepth;
	}

	WorkLedger sends() {
		return this.sends;
	}

	WorkLedger receives() {
		return this.receives;
	}

	WorkLedger ledgerOf(WorkOpcode opcode) {
		return (opcode == WorkOpcode.RECEIVE) ? this.receives : this.sends;
	}

	/** Has each completion shown to somebody, on the thread that polls. */
	VerbsEndpoint observe(Consumer<Completed> newObserver) {
		this.observer = newObserver;
		return this;
	}

	void entered(Completed completed) {
		this.observer.accept(completed);
	}

	long nextId() {
		return this.nextId.incrementAndGet();
	}

	/** The one request that all posts to the send queue use in turn. */
	WorkRequest request() {
		return this.sendRequest;
	}

	PostResult tryPost(WorkRequest request) {
		return this.sends.post(request, this.queuePair::postSend);
	}

	/** Posts to the send queue without ringing the doorbell. */
	long post(WorkRequest request, Segment... segments) {
		Segment.addAll(request, segments);
		assertThat(tryPost(request)).as("posting to %s", this.name).isEqualTo(PostResult.POSTED);
		return request.id();
	}

	private long postAndRing(WorkRequest request, Segment... segments) {
		long id = post(request, segments);
		this.queuePair.ringDoorbell();
		return id;
	}

	long send(Segment... segments) {
		return postAndRing(this.sendRequest.send(nextId()), segments);
	}

	long sendSolicited(Segment... segments) {
		return postAndRing(this.sendRequest.sendSolicited(nextId()), segments);
	}

	long sendWithInvalidate(int key, Segment... segments) {
		return postAndRing(this.sendRequest.sendWithInvalidate(nextId(), key), segments);
	}

	long read(RemoteRegion source, Segment... segments) {
		return postAndRing(this.sendRequest.read(nextId(), source.address(), source.key()), segments);
	}

	long write(RemoteRegion sink, Segment... segments) {
		return postAndRing(this.sendRequest.write(nextId(), sink.address(), sink.key()), segments);
	}

	long receive(Segment... segments) {
		long id = nextId();
		assertThat(tryReceive(id, segments)).as("posting a receive to %s", this.name).isEqualTo(PostResult.POSTED);
		return id;
	}

	PostResult tryReceive(long id, Segment... segments) {
		return this.receives.post(Segment.addAll(this.receiveRequest.receive(id), segments),
				this.queuePair::postReceive);
	}

	QueuePairState state() {
		return this.queuePair.state();
	}

	/** The fault of a queue pair that must have one. */
	QueuePairFault fault() {
		QueuePairFault fault = this.queuePair.fault();
		if (fault == null) {
			throw new AssertionError(this.name + " has no fault, state " + state());
		}
		return fault;
	}

	void connected() {
		this.connected = true;
	}

	boolean wasConnected() {
		return this.connected;
	}

	/** Says that completions of this endpoint are not to be expected any more. */
	void leaveUnaccounted() {
		this.unaccounted = true;
	}

	/**
	 * Closes the queue pair, after which none of its completions may appear, but for
	 * receives of a shared queue.
	 */
	void close() {
		this.queuePair.close();
		this.unaccounted = true;
		this.closedNanos = System.nanoTime();
	}

	boolean wasClosedBefore(long nanos) {
		return this.closedNanos != 0 && this.closedNanos - nanos < 0;
	}

	boolean isAccounted() {
		return this.connected && !this.unaccounted && !this.collector.isClosed();
	}

	/** Whether the connection has ended with nothing left to report. */
	boolean isSettled() {
		return state() == QueuePairState.ERROR && this.sends.due() == 0 && this.disconnects.get() > 0
				&& (this.sharedReceives != null || this.receives.due() == 0);
	}

	int disconnects() {
		return this.disconnects.get();
	}

	@Nullable QueuePairFault announced() {
		return this.announced;
	}

	String dump() {
		return this.name + " [queue pair " + this.queuePair.number() + "] " + state() + ", fault "
				+ this.queuePair.fault() + ", announced " + this.disconnects + " times\n    " + this.sends.dump()
				+ "\n    " + this.receives.dump();
	}

}
