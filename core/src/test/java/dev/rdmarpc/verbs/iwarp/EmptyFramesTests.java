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

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import dev.rdmarpc.verbs.MemoryRegion;
import dev.rdmarpc.verbs.QueuePairListener;
import dev.rdmarpc.verbs.QueuePairOptions;
import dev.rdmarpc.verbs.WorkCompletion;
import dev.rdmarpc.verbs.WorkRequest;
import dev.rdmarpc.verbs.WorkStatus;
import dev.rdmarpc.verbs.iwarp.rdmap.ConnectionParameters;
import dev.rdmarpc.verbs.iwarp.wire.DdpControl;
import dev.rdmarpc.verbs.iwarp.wire.Fpdu;
import dev.rdmarpc.verbs.iwarp.wire.ReadyToReceive;

import static org.assertj.core.api.Assertions.assertThat;

/** Frames without payload, which take no receive and so are bounded by no credit. */
class EmptyFramesTests {

	private static final int FRAMES = 2000;

	private static final int MOST_PER_STEP = 64;

	private final IwarpDevice device = (IwarpDevice) new IwarpProvider().openDevice(null);

	private final IwarpProtectionDomain domain = (IwarpProtectionDomain) this.device.allocateProtectionDomain();

	private final IwarpCompletionQueue completionQueue = (IwarpCompletionQueue) this.device.createCompletionQueue(64);

	private final WorkCompletion[] polled = { new WorkCompletion() };

	@AfterEach
	void close() {
		this.completionQueue.close();
		this.domain.close();
		this.device.close();
	}

	private void attach(ScriptedStream stream) {
		IwarpQueuePair queuePair = (IwarpQueuePair) this.domain
			.createQueuePair(new QueuePairOptions(this.completionQueue, null, 8, 8, 4, 4, QueuePairListener.NONE));
		MemoryRegion target = this.domain.registerMemory(ByteBuffer.allocateDirect(64), Endpoint.ALL_ACCESS);
		queuePair.postReceive(new WorkRequest(1).receive(7).addSegment(target, 0, 64));
		Reactor reactor = this.completionQueue.engine();
		reactor.lock();
		try {
			ConnectionLifecycle lifecycle = queuePair.lifecycle();
			lifecycle.attach(lifecycle.newConnection(stream,
					new ConnectionParameters(true, false, 1000, 2, 2, ReadyToReceive.NONE)), null);
			lifecycle.advance();
		}
		finally {
			reactor.unlock();
		}
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void aStepHandlesOnlySoManyOfOneConnection(boolean writes) {
		byte[] empty = Fpdu.frame(
				writes ? Fpdu.write(1, 0, new byte[0])
						: Fpdu.untagged(false, DdpControl.OPCODE_SEND, 0, DdpControl.QUEUE_SEND, 1, 0, new byte[0]),
				false);
		byte[] send = Fpdu.frame(Fpdu.send(1, new byte[8]), false);
		ByteBuffer script = ByteBuffer.allocate(FRAMES * empty.length + send.length);
		for (int i = 0; i < FRAMES; i++) {
			script.put(empty);
		}
		attach(new ScriptedStream(script.put(send).flip(), script.capacity()));
		int polls = 1;
		while (this.completionQueue.poll(this.polled) == 0 && polls <= FRAMES) {
			polls++;
		}
		assertThat(this.polled[0].status()).isEqualTo(WorkStatus.SUCCESS);
		// a step or two for each poll, and the one of attaching
		assertThat(polls).isBetween(FRAMES / MOST_PER_STEP / 3, FRAMES / MOST_PER_STEP * 3);
	}

}
