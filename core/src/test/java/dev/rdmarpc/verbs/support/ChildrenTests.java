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

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import dev.rdmarpc.verbs.VerbsError;
import dev.rdmarpc.verbs.VerbsException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

/** Nothing stays open whose parent is closed, whenever it was created. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ChildrenTests {

	private static final int THREADS = 3;

	@Test
	void childrenAreClosedWithTheirParent() {
		OpenState parent = new OpenState("device x");
		Children<Child> children = new Children<>(parent, Child::close);
		Child first = children.add(new Child(children));
		Child second = children.add(new Child(children));
		second.close();
		assertThat(children.remove(second)).isFalse();
		assertThat(children.sum((child) -> 7)).isEqualTo(7);
		assertThat(parent.tryClose()).isTrue();
		assertThat(parent.tryClose()).isFalse();
		children.closeAll();
		children.closeAll();
		assertThat(first.closed).hasValue(1);
		assertThat(second.closed).hasValue(1);
		Child late = new Child(children);
		VerbsException refused = catchThrowableOfType(VerbsException.class, () -> children.add(late));
		assertThat(refused.error()).isEqualTo(VerbsError.CLOSED);
		assertThat(refused).hasMessageContaining("device x is closed");
		assertThat(late.closed).hasValue(1);
		assertThat(children.sum((child) -> 1)).isZero();
	}

	@Test
	void whatIsCreatedMeanwhileIsClosedToo() throws Exception {
		ExecutorService threads = Executors.newFixedThreadPool(THREADS);
		try {
			for (int round = 0; round < 2000; round++) {
				OpenState parent = new OpenState("parent");
				Children<Child> children = new Children<>(parent, Child::close);
				CountDownLatch start = new CountDownLatch(1);
				List<Future<Child>> created = new ArrayList<>();
				for (int i = 0; i < THREADS; i++) {
					created.add(threads.submit(() -> {
						Child child = new Child(children);
						start.await();
						try {
							children.add(child);
						}
						catch (VerbsException ex) {
							assertThat(ex.error()).isEqualTo(VerbsError.CLOSED);
						}
						return child;
					}));
				}
				start.countDown();
				parent.tryClose();
				children.closeAll();
				for (Future<Child> child : created) {
					assertThat(child.get(20, TimeUnit.SECONDS).closed.get()).as("closed in round %d", round)
						.isPositive();
				}
				assertThat(children.sum((child) -> 1)).isZero();
			}
		}
		finally {
			threads.shutdownNow();
		}
	}

	/** Counts how often it is closed. */
	private static final class Child {

		private final Children<Child> siblings;

		private final AtomicInteger closed = new AtomicInteger();

		Child(Children<Child> siblings) {
			this.siblings = siblings;
		}

		void close() {
			this.closed.incrementAndGet();
			this.siblings.remove(this);
		}

	}

}
