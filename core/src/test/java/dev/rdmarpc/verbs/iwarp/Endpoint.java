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

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.function.BooleanSupplier;

import dev.rdmarpc.verbs.AccessFlag;
import dev.rdmarpc.verbs.CompletionQueue;
import dev.rdmarpc.verbs.MemoryRegion;
import dev.rdmarpc.verbs.ProtectionDomain;
import dev.rdmarpc.verbs.QueuePair;
import dev.rdmarpc.verbs.QueuePairFault;
import dev.rdmarpc.verbs.QueuePairListener;
import dev.rdmarpc.verbs.QueuePairOptions;
import dev.rdmarpc.verbs.VerbsDevice;
import dev.rdmarpc.verbs.WorkCompletion;
import dev.rdmarpc.verbs.WorkOpcode;
import dev.rdmarpc.verbs.WorkRequest;
import dev.rdmarpc.verbs.WorkStatus;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * One side of a connection in a test: a queue pair with its completion queue, and what
 * was polled from it. Used by one thread.
 */
final class Endpoint implements AutoCloseable {

	static final Duration DEADLINE = Duration.ofSeconds(10);

	static final Set<AccessFlag> ALL_ACCESS = EnumSet.allOf(AccessFlag.class);

	final VerbsDevice device;

	final ProtectionDomain domain;

	final CompletionQueue completionQueue;

	final QueuePair queuePair;

	final List<QueuePairFault> faults = new ArrayList<>();

	final List<Completion> completions = new ArrayList<>();

	final WorkRequest request = new WorkRequest(8);

	private final WorkCompletion[] polled = { new WorkCompletion(), new WorkCompletion(), new WorkCompletion(),
			new WorkCompletion() };

	Endpoint(VerbsDevice device) {
		this(device, 64, 64);
	}

	Endpoint(VerbsDevice device, int sendDepth, int receiveDepth) {
		this.device = device;
		this.domain = device.allocateProtectionDomain();
		this.completionQueue = device.createCompletionQueue(sendDepth + receiveDepth);
		QueuePairListener listener = (queuePair, fault) -> this.faults.add(fault);
		this.queuePair = this.domain
			.createQueuePair(new QueuePairOptions(this.completionQueue, null, sendDepth, receiveDepth, 8, 8, listener));
	}

	MemoryRegion register(int bytes) {
		return this.domain.registerMemory(ByteBuffer.allocateDirect(bytes), ALL_ACCESS);
	}

	MemoryRegion lend(QueuePair peer, int bytes) {
		return this.domain.registerMemory(ByteBuffer.allocateDirect(bytes), ALL_ACCESS, peer);
	}

	void receive(long id, MemoryRegion region) {
		this.queuePair.postReceive(this.request.receive(id).addSegment(region, 0, region.lengthBytes()));
	}

	void send(WorkRequest request) {
		this.queuePair.postSend(request);
		this.queuePair.ringDoorbell();
	}

	/** Polls once. */
	void poll() {
		int count = this.completionQueue.poll(this.polled);
		for (int i = 0; i < count; i++) {
			WorkCompletion completion = this.polled[i];
			this.completions.add(new Completion(completion.id(), completion.status(), completion.opcode(),
					completion.byteLength(), completion.invalidatedKey()));
		}
	}

	/** Polls endpoints until a condition holds, and fails at the deadline. */
	static void pollUntil(BooleanSupplier condition, Endpoint... endpoints) {
		long deadline = System.nanoTime() + DEADLINE.toNanos();
		while (!condition.getAsBoolean()) {
			for (Endpoint endpoint : endpoints) {
				endpoint.poll();
			}
			assertThat(System.nanoTime()).as("deadline").isLessThan(deadline);
			Thread.onSpinWait();
		}
	}

	/** Whether a request has completed. */
	boolean has(long id) {
		return this.completions.stream().anyMatch((completion) -> completion.id() == id);
	}

	/** The completion of a request. */
	Completion completion(long id) {
		return this.completions.stream().filter((completion) -> completion.id() == id).findFirst().orElseThrow();
	}

	@Override
	public void close() {
		this.queuePair.close();
		this.completionQueue.close();
		this.domain.close();
	}

	/** A copy of a work completion. */
	record Completion(long id, WorkStatus status, WorkOpcode opcode, long bytes, int invalidatedKey) {

	}

}
