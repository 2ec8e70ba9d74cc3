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

package dev.rdmarpc.verbs.support;

import java.lang.ref.WeakReference;
import java.lang.reflect.Proxy;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import dev.rdmarpc.verbs.QueuePair;
import dev.rdmarpc.verbs.WorkCompletion;
import dev.rdmarpc.verbs.WorkOpcode;
import dev.rdmarpc.verbs.WorkStatus;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/** Completions come out as they went in, and none of a queue pair that has closed. */
class CompletionRingTests {

	private static final int CAPACITY = 4;

	private final CompletionRing ring = new CompletionRing(CAPACITY);

	private final WorkCompletion[] taken = Stream.generate(WorkCompletion::new)
		.limit(CAPACITY)
		.toArray(WorkCompletion[]::new);

	@Test
	void completionsComeOutAsTheyWentIn() {
		QueuePair[] pairs = { queuePair(), queuePair() };
		CompletionSource[] sources = { CompletionSource.of(pairs[0]), CompletionSource.of(pairs[1]) };
		long id = 0;
		for (WorkStatus status : WorkStatus.values()) {
			for (WorkOpcode opcode : WorkOpcode.values()) {
				int which = (int) (id % 3) / 2;
				QueuePair pair = pairs[which];
				this.ring.add(id, status, opcode, 10 * id, (int) id + 1, sources[which]);
				assertThat(this.ring.drainTo(this.taken)).isOne();
				WorkCompletion completion = this.taken[0];
				assertThat(completion.id()).isEqualTo(id);
				assertThat(completion.status()).isEqualTo(status);
				assertThat(completion.opcode()).isEqualTo(opcode);
				assertThat(completion.byteLength()).isEqualTo(10 * id);
				assertThat(completion.invalidatedKey()).isEqualTo((int) id + 1);
				assertThat(completion.queuePair()).isSameAs(pair);
				id++;
			}
		}
		assertThat(this.ring.size()).isZero();
	}

	@Test
	void itGrowsToItsLimitAndKeepsTheirOrder() {
		CompletionRing large = new CompletionRing(1000);
		CompletionSource closed = CompletionSource.of(queuePair());
		CompletionSource other = CompletionSource.of(queuePair());
		long in = 0;
		long out = 0;
		for (int round = 0; round < 3; round++) {
			while (large.hasRoom()) {
				large.add(in, WorkStatus.SUCCESS, WorkOpcode.SEND, in, 0, (in % 3 == 0) ? closed : other);
				in++;
			}
			assertThat(large.size()).isEqualTo(1000);
			for (int i = 0; i < 100; i++) {
				assertThat(large.drainTo(this.taken)).isEqualTo(CAPACITY);
				for (WorkCompletion completion : this.taken) {
					assertThat(completion.id()).isEqualTo(out).isEqualTo(completion.byteLength());
					out++;
				}
			}
		}
		large.purge(closed, false);
		for (int drained = large.drainTo(this.taken); drained > 0; drained = large.drainTo(this.taken)) {
			for (int i = 0; i < drained; i++) {
				out += (out % 3 == 0) ? 1 : 0;
				assertThat(this.taken[i].id()).isEqualTo(out++);
			}
		}
		assertThat(out).isEqualTo(in);
	}

	@Test
	void noneIsReplacedThatWasNotTaken() {
		CompletionSource source = CompletionSource.of(queuePair());
		for (int i = 0; i < CAPACITY; i++) {
			add(i, WorkOpcode.SEND, source);
		}
		assertThat(this.ring.hasRoom()).isFalse();
		assertThatIllegalStateException().isThrownBy(() -> add(CAPACITY, WorkOpcode.SEND, source));
		assertThat(this.ring.drainTo(this.taken)).isEqualTo(CAPACITY);
		assertThat(this.taken[0].id()).isZero();
	}

	@Test
	void completionsOfAClosedQueuePairAreDropped() {
		CompletionSource closed = CompletionSource.of(queuePair());
		CompletionSource other = CompletionSource.of(queuePair());
		add(1, WorkOpcode.SEND, closed);
		add(2, WorkOpcode.RECEIVE, other);
		add(3, WorkOpcode.RECEIVE, closed);
		this.ring.purge(closed, false);
		assertThat(this.ring.drainTo(this.taken)).isOne();
		assertThat(this.taken[0].id()).isEqualTo(2);
		assertThat(this.ring.hasRoom()).isTrue();
	}

	@Test
	void receivesOfASharedQueueAreKept() {
		QueuePair pair = queuePair();
		CompletionSource closed = CompletionSource.of(pair);
		add(1, WorkOpcode.SEND, closed);
		add(2, WorkOpcode.RECEIVE, closed);
		this.ring.purge(closed, true);
		assertThat(this.ring.drainTo(this.taken)).isOne();
		assertThat(this.taken[0].id()).isEqualTo(2);
		assertThat(this.taken[0].opcode()).isEqualTo(WorkOpcode.RECEIVE);
		assertThat(this.taken[0].queuePair()).isSameAs(pair);
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void whatIsDroppedMakesRoom(boolean keepReceives) {
		CompletionSource closed = CompletionSource.of(queuePair());
		CompletionSource other = CompletionSource.of(queuePair());
		for (int turn = 0; turn < 3 * CAPACITY; turn++) {
			add(turn, WorkOpcode.SEND, other);
			add(turn, WorkOpcode.SEND, closed);
			add(turn, WorkOpcode.RECEIVE, other);
			add(turn, WorkOpcode.RECEIVE, closed);
			assertThat(this.ring.hasRoom()).isFalse();
			this.ring.purge(closed, keepReceives);
			assertThat(this.ring.size()).isEqualTo(keepReceives ? 3 : 2);
			add(turn, WorkOpcode.WRITE, other);
			int expected = keepReceives ? 4 : 3;
			assertThat(this.ring.drainTo(this.taken)).isEqualTo(expected);
			assertThat(this.taken[expected - 1].opcode()).isEqualTo(WorkOpcode.WRITE);
			closed = CompletionSource.of(queuePair());
		}
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void aClosedQueuePairIsForgotten(boolean keepReceives) {
		WeakReference<QueuePair> closed = close(keepReceives);
		long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
		while (closed.get() != null) {
			assertThat(System.nanoTime()).as("the queue pair is kept").isLessThan(deadline);
			System.gc();
		}
		assertThat(this.ring.size()).isZero();
	}

	/** In a frame of its own, which keeps nothing. */
	private WeakReference<QueuePair> close(boolean keepReceives) {
		QueuePair pair = queuePair();
		CompletionSource closed = CompletionSource.of(pair);
		for (int i = 0; i < 2 * CAPACITY; i++) {
			add(i, WorkOpcode.SEND, closed);
			assertThat(this.ring.drainTo(this.taken)).isOne();
		}
		add(0, WorkOpcode.SEND, closed);
		add(1, WorkOpcode.RECEIVE, closed);
		this.ring.purge(closed, keepReceives);
		assertThat(this.ring.drainTo(this.taken)).isEqualTo(keepReceives ? 1 : 0);
		for (WorkCompletion completion : this.taken) {
			completion.set(0, WorkStatus.SUCCESS, WorkOpcode.SEND, 0, 0, queuePair());
		}
		return new WeakReference<>(pair);
	}

	private void add(long id, WorkOpcode opcode, CompletionSource source) {
		this.ring.add(id, WorkStatus.SUCCESS, opcode, 0, 0, source);
	}

	private static QueuePair queuePair() {
		return (QueuePair) Proxy.newProxyInstance(CompletionRingTests.class.getClassLoader(),
				new Class<?>[] { QueuePair.class }, (proxy, method, arguments) -> switch (method.getName()) {
					case "equals" -> proxy == arguments[0];
					case "hashCode" -> System.identityHashCode(proxy);
					default -> "queue pair";
				});
	}

}
