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

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.ToLongFunction;

/**
 * What was created on a device or in a domain, and is closed with it. Thread-safe.
 *
 * <p>
 * Implementation notes. Who creates adds and then asks whether the parent is open; who
 * closes closes the parent and then looks for children: one of the two closes what is
 * created meanwhile. Closing a child twice must do nothing.
 *
 * @param <T> type of the children
 */
public final class Children<T> {

	private final OpenState parent;

	private final Consumer<T> closing;

	private final Set<T> open = ConcurrentHashMap.newKeySet();

	/**
	 * Creates an empty set.
	 * @param parent whose children they are
	 * @param closing closes a child, which then {@link #remove removes} itself
	 */
	public Children(OpenState parent, Consumer<T> closing) {
		this.parent = parent;
		this.closing = closing;
	}

	/**
	 * Adds a child that was just created, or closes it if it came too late.
	 * @return the child
	 */
	public <C extends T> C add(C child) {
		boolean added = false;
		try {
			this.open.add(child);
			this.parent.check();
			added = true;
			return child;
		}
		finally {
			if (!added) {
				this.closing.accept(child);
			}
		}
	}

	/** Removes a child that is closed; returns whether it was there. */
	public boolean remove(T child) {
		return this.open.remove(child);
	}

	/** Does something with each child. */
	public void forEach(Consumer<? super T> action) {
		this.open.forEach(action);
	}

	/** What all children have together. */
	public long sum(ToLongFunction<? super T> figure) {
		return this.open.stream().mapToLong(figure).sum();
	}

	/** The greatest figure of all children; 0 without any. */
	public long max(ToLongFunction<? super T> figure) {
		return this.open.stream().mapToLong(figure).max().orElse(0);
	}

	/** Closes all children. */
	public void closeAll() {
		this.open.forEach(this.closing);
	}

}
