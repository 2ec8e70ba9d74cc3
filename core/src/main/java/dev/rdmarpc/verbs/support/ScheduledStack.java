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

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;

import org.jspecify.annotations.Nullable;

/**
 * The queue pairs that have posted work that nobody has seen to. Any thread pushes, the
 * holder of the lock of the completion queue takes all at once.
 *
 * <p>
 * Implementation notes. An intrusive stack: each queue pair has one {@link Node}, whose
 * flag keeps it from being pushed twice. A node is taken off before its flag is cleared,
 * and the flag is cleared before its queue is looked at, so a request posted behind the
 * taker's back pushes the node again. Because takers detach the whole stack, a node
 * cannot come back under a comparing taker.
 */
public final class ScheduledStack {

	private final AtomicReference<@Nullable Node> top = new AtomicReference<>();

	/** Pushes a queue pair unless it is there already. */
	public void push(Node node) {
		if (node.scheduled.get() || !node.scheduled.compareAndSet(false, true)) {
			return;
		}
		Node below;
		do {
			below = this.top.get();
			node.below = below;
		}
		while (!this.top.compareAndSet(below, node));
	}

	/** Whether no queue pair is there. */
	public boolean isEmpty() {
		return this.top.get() == null;
	}

	/** Serves all queue pairs that are there. */
	public void serveAll() {
		if (isEmpty()) {
			return;
		}
		Node node = this.top.getAndSet(null);
		while (node != null) {
			Node below = node.below;
			node.below = null;
			node.scheduled.set(false);
			node.serving.run();
			node = below;
		}
	}

	/** A queue pair's place in the stack. */
	public static final class Node {

		private final Runnable serving;

		private final AtomicBoolean scheduled = new AtomicBoolean();

		private @Nullable Node below;

		/**
		 * Creates the place of a queue pair.
		 * @param serving sees to what it has posted
		 */
		public Node(Runnable serving) {
			this.serving = serving;
		}

	}

}
