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

package dev.rdmarpc.flatbuffers;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.Test;

import dev.rdmarpc.codec.MessageFormat;
import dev.rdmarpc.codec.MessageSegments;
import dev.rdmarpc.codec.MethodSignature;

import static org.assertj.core.api.Assertions.assertThat;

/** Formats are shared by threads; compiling is safe from any of them. */
class ConcurrencyTests {

	private static final int THREADS = 8;

	private static final int CALLS = 2_000;

	private static final long SEED = 42;

	@Test
	void formatsAreSharedByThreads() throws Exception {
		MessageFormat format = Messages.result(Node.class);
		inAllThreads((thread) -> {
			Random random = new Random(SEED + thread);
			MessageSegments segments = new MessageSegments();
			for (int i = 0; i < CALLS; i++) {
				Node node = node(random, 3);
				format.encode(node, segments);
				Object decoded = Messages.decode(format, Messages.contiguous(segments));
				segments.clear();
				assertThat(decoded).as("seed %d, call %d", SEED + thread, i).isEqualTo(node);
			}
		});
	}

	@Test
	void compilingIsSafeFromAnyThread() throws Exception {
		FlatBuffersCodec codec = new FlatBuffersCodec();
		MethodSignature method = Messages.method(new TypeOf<List<Node>>() {
		}.type(), Node.class);
		inAllThreads((thread) -> {
			Node node = node(new Random(SEED + thread), 3);
			MessageFormat format = codec.result(method);
			assertThat(Messages.decode(format, Messages.encode(format, List.of(node)))).isEqualTo(List.of(node));
		});
	}

	private static void inAllThreads(Work work) throws Exception {
		ExecutorService threads = Executors.newFixedThreadPool(THREADS);
		try {
			CyclicBarrier start = new CyclicBarrier(THREADS);
			List<Callable<Void>> tasks = new ArrayList<>();
			for (int i = 0; i < THREADS; i++) {
				int thread = i;
				tasks.add(() -> {
					start.await(30, TimeUnit.SECONDS);
					work.run(thread);
					return null;
				});
			}
			for (Future<Void> each : threads.invokeAll(tasks, 60, TimeUnit.SECONDS)) {
				each.get();
			}
		}
		finally {
			threads.shutdownNow();
			assertThat(threads.awaitTermination(30, TimeUnit.SECONDS)).isTrue();
		}
	}

	private static Node node(Random random, int depth) {
		List<Node> children = new ArrayList<>();
		for (int i = (depth == 0) ? 0 : random.nextInt(4); i > 0; i--) {
			children.add(node(random, depth - 1));
		}
		return new Node(random.nextBoolean() ? null : Long.toString(random.nextLong(), 36), random.nextInt(), children);
	}

	/** What each thread does. */
	private interface Work {

		void run(int thread) throws Exception;

	}

	record Node(String name, int number, List<Node> children) {

	}

}
