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

import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import dev.rdmarpc.verbs.PostResult;
import dev.rdmarpc.verbs.WorkOpcode;
import dev.rdmarpc.verbs.WorkRequest;

import static org.assertj.core.api.Assertions.assertThat;

/** A queue of work requests keeps their order, also while it grows. */
class WorkQueueTests {

	private final WorkRequest request = new WorkRequest(1);

	private long posted;

	private long taken;

	@ParameterizedTest
	@ValueSource(ints = { 1, 3, 64, 65, 1000 })
	void asManyArePostedAsItIsDeep(int depth) {
		WorkQueue queue = WorkQueue.growing(depth, 1);
		for (int round = 0; round < 3; round++) {
			for (int i = 0; i < depth; i++) {
				assertThat(post(queue)).isEqualTo(PostResult.POSTED);
			}
			assertThat(queue.post(request())).isEqualTo(PostResult.QUEUE_FULL);
			for (int i = 0; i < depth; i++) {
				take(queue);
			}
			assertThat(queue.isEmpty()).isTrue();
		}
	}

	@Test
	void itsMemoryIsThatOfWhatWasPosted() {
		WorkQueue queue = WorkQueue.growing(65_536, 1);
		for (int i = 0; i < 10_000; i++) {
			post(queue);
			post(queue);
			take(queue);
			take(queue);
		}
		int small = queue.capacity();
		for (int i = 0; i < 1000; i++) {
			post(queue);
		}
		assertThat(small).isLessThan(1000);
		assertThat(queue.capacity()).isEqualTo(1024);
		assertThat(new WorkQueue(300, 1).capacity()).as("of one that does not grow").isEqualTo(512);
	}

	@Test
	void batchesArePostedAsFarAsThereIsRoom() {
		WorkQueue queue = WorkQueue.growing(100, 1);
		WorkRequest[] batch = Stream.generate(() -> new WorkRequest(1)).limit(64).toArray(WorkRequest[]::new);
		for (int i = 0; i < batch.length; i++) {
			batch[i].receive(i);
		}
		assertThat(queue.post(batch, 64)).isEqualTo(64);
		assertThat(queue.post(batch, 64)).isEqualTo(36);
		assertThat(queue.post(batch, 64)).isZero();
		for (int i = 0; i < 100; i++) {
			assertThat(queue.id(queue.head())).isEqualTo(i % 64);
			queue.release();
		}
	}

	@Test
	void aConsumerSeesWhatIsPostedWhileTheQueueGrows() throws Exception {
		long seed = System.nanoTime();
		for (int round = 0; round < 200; round++) {
			WorkQueue queue = WorkQueue.growing(4096, 1);
			SplittableRandom random = new SplittableRandom(seed + round);
			int total = 5000;
			CompletableFuture<Void> poster = CompletableFuture.runAsync(() -> {
				while (this.posted < total) {
					int burst = Math.min(random.nextInt(1, 700), (int) (total - this.posted));
					for (int i = 0; i < burst; i++) {
						if (post(queue) != PostResult.POSTED) {
							Thread.onSpinWait();
						}
					}
				}
			});
			while (this.taken < total) {
				assertThat(poster).as("seed %d, round %d", seed, round).isNotCompletedExceptionally();
				while (queue.head() != queue.tail()) {
					take(queue);
				}
			}
			poster.get(30, TimeUnit.SECONDS);
			assertThat(queue.isEmpty()).isTrue();
			this.posted = 0;
			this.taken = 0;
		}
	}

	private WorkRequest request() {
		return this.request.write(this.posted, 3 * this.posted, (int) this.posted);
	}

	private PostResult post(WorkQueue queue) {
		PostResult result = queue.post(request());
		if (result == PostResult.POSTED) {
			this.posted++;
		}
		return result;
	}

	private void take(WorkQueue queue) {
		long sequence = queue.head();
		assertThat(queue.id(sequence)).isEqualTo(this.taken);
		assertThat(queue.remoteAddress(sequence)).isEqualTo(3 * this.taken);
		assertThat(queue.remoteKey(sequence)).isEqualTo((int) this.taken);
		assertThat(queue.opcode(sequence)).isEqualTo(WorkOpcode.WRITE);
		queue.release();
		this.taken++;
	}

}
