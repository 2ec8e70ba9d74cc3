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
import java.util.Random;

import dev.rdmarpc.verbs.MemoryRegion;
import dev.rdmarpc.verbs.PostResult;
import dev.rdmarpc.verbs.QueuePairState;
import dev.rdmarpc.verbs.WorkOpcode;
import dev.rdmarpc.verbs.WorkRequest;
import dev.rdmarpc.verbs.WorkStatus;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Sends, Reads and Writes between two connected endpoints whose every byte is known
 * beforehand, checked as they complete.
 */
final class PatternTraffic {

	private static final int MESSAGES = 12;

	private static final int LONGEST = 150_000;

	private static final int WRITTEN = 60_000;

	private final Side client;

	private final Side server;

	private final long seed;

	private final Duration patience;

	/**
	 * Prepares the traffic.
	 * @param patience after so long without a completion it has ended
	 */
	PatternTraffic(Endpoint client, Endpoint server, long seed, Duration patience) {
		this.seed = seed;
		this.patience = patience;
		this.client = new Side(client, 1);
		this.server = new Side(server, 2);
	}

	/** Runs it; returns whether it ended before everything was done. */
	boolean run() {
		this.client.post(this.server);
		this.server.post(this.client);
		long last = System.nanoTime();
		int before = 0;
		while (!done() && System.nanoTime() - last < this.patience.toNanos()) {
			this.client.endpoint.poll();
			this.server.endpoint.poll();
			int now = this.client.endpoint.completions.size() + this.server.endpoint.completions.size();
			if (now != before) {
				before = now;
				last = System.nanoTime();
			}
		}
		boolean ended = !done() || this.client.hasFailed() || this.server.hasFailed();
		this.client.endpoint.queuePair.disconnect();
		this.server.endpoint.queuePair.disconnect();
		Endpoint.pollUntil(() -> done() && this.client.isOver() && this.server.isOver(), this.client.endpoint,
				this.server.endpoint);
		this.client.check(this.server);
		this.server.check(this.client);
		return ended;
	}

	private boolean done() {
		return this.client.endpoint.completions.size() == this.client.posted
				&& this.server.endpoint.completions.size() == this.server.posted;
	}

	/** One direction's memory and counts. */
	private final class Side {

		private final Endpoint endpoint;

		private final int salt;

		private final MemoryRegion source;

		private final MemoryRegion received;

		private final MemoryRegion writeTarget;

		private final MemoryRegion readTarget;

		private int posted;

		Side(Endpoint endpoint, int salt) {
			this.endpoint = endpoint;
			this.salt = salt;
			this.source = endpoint.register(LONGEST);
			this.received = endpoint.register(MESSAGES * LONGEST);
			this.writeTarget = endpoint.register(WRITTEN);
			this.readTarget = endpoint.register(MESSAGES * LONGEST);
			byte[] pattern = new byte[LONGEST];
			new Random(PatternTraffic.this.seed + salt).nextBytes(pattern);
			this.source.memory().put(0, pattern);
			for (int i = 0; i < MESSAGES; i++) {
				endpoint.queuePair
					.postReceive(endpoint.request.receive(i).addSegment(this.received, i * LONGEST, LONGEST));
				this.posted++;
			}
		}

		void post(Side other) {
			Random random = new Random(PatternTraffic.this.seed * 7 + this.salt);
			for (int i = 0; i < MESSAGES; i++) {
				int length = length(i);
				post(this.endpoint.request.send(100 + i)
					.addSegment(this.source, 0, length / 3)
					.addSegment(this.source, length / 3, length - length / 3));
				if (random.nextInt(3) == 0) {
					post(this.endpoint.request.read(200 + i, other.source.remoteAddress(), other.source.remoteKey())
						.addSegment(this.readTarget, i * LONGEST, LONGEST));
				}
				if (random.nextInt(3) == 0) {
					post(this.endpoint.request
						.write(300 + i, other.writeTarget.remoteAddress(), other.writeTarget.remoteKey())
						.addSegment(this.source, 0, WRITTEN));
				}
			}
			this.endpoint.queuePair.ringDoorbell();
		}

		private void post(WorkRequest request) {
			assertThat(this.endpoint.queuePair.postSend(request)).isEqualTo(PostResult.POSTED);
			this.posted++;
		}

		private int length(int message) {
			Random random = new Random(PatternTraffic.this.seed * 13 + this.salt * 100L + message);
			return random.nextBoolean() ? random.nextInt(300) : random.nextInt(LONGEST);
		}

		boolean hasFailed() {
			return this.endpoint.completions.stream().anyMatch((done) -> done.status() != WorkStatus.SUCCESS);
		}

		boolean isOver() {
			return this.endpoint.queuePair.state() == QueuePairState.ERROR && this.endpoint.faults.size() == 1;
		}

		void check(Side other) {
			assertThat(this.endpoint.completions).extracting(Endpoint.Completion::id).doesNotHaveDuplicates();
			int next = 0;
			for (Endpoint.Completion completion : this.endpoint.completions) {
				if (completion.status() != WorkStatus.SUCCESS) {
					continue;
				}
				if (completion.opcode() == WorkOpcode.RECEIVE) {
					assertThat(completion.id()).as("order of receives").isEqualTo(next);
					assertThat(completion.bytes()).isEqualTo(other.length(next));
					assertSame(this.received, next * LONGEST, other.source, other.length(next));
					next++;
				}
				else if (completion.opcode() == WorkOpcode.READ) {
					assertSame(this.readTarget, (int) (completion.id() - 200) * LONGEST, other.source, LONGEST);
				}
			}
			for (int i = 0; i < WRITTEN; i++) {
				byte written = this.writeTarget.memory().get(i);
				assertThat(written == 0 || written == other.source.memory().get(i)).as("written byte %d", i).isTrue();
			}
		}

		private static void assertSame(MemoryRegion actual, int offset, MemoryRegion expected, int length) {
			ByteBuffer received = actual.memory().slice(offset, length);
			assertThat(received.mismatch(expected.memory().slice(0, length))).isEqualTo(-1);
		}

	}

}
