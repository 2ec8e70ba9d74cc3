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

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

import org.jspecify.annotations.Nullable;

/**
 * The account of one work queue: every request posted must complete exactly once, in
 * posting order, as what it was posted as; an unsignaled one completes only in error.
 *
 * <p>
 * Thread-safe: requests are posted under the lock, so that the order of the account is
 * the order of the queue.
 */
final class WorkLedger {

	private final String name;

	private final boolean ordered;

	private final ArrayDeque<Entry> outstanding = new ArrayDeque<>();

	private final Map<Long, Completed> completedById = new HashMap<>();

	private final List<Completed> completed = new ArrayList<>();

	/**
	 * Opens an account.
	 * @param name for messages
	 * @param ordered whether completions come in posting order; not so for a shared
	 * receive queue
	 */
	WorkLedger(String name, boolean ordered) {
		this.name = name;
		this.ordered = ordered;
	}

	/** Posts a request and enters it if it was taken. */
	synchronized PostResult post(WorkRequest request, Function<WorkRequest, PostResult> verb) {
		Entry entry = new Entry(request.id(), request.opcode(), request.signaled(), request.totalBytes());
		this.outstanding.add(entry);
		boolean taken = false;
		try {
			PostResult result = verb.apply(request);
			taken = result == PostResult.POSTED;
			return result;
		}
		finally {
			if (!taken) {
				this.outstanding.removeLast();
			}
		}
	}

	/**
	 * Strikes a completion off the account.
	 * @return what is wrong with it, or {@code null}
	 */
	synchronized @Nullable String complete(Completed completion) {
		Entry entry = this.ordered ? takeInOrder(completion.id()) : takeAny(completion.id());
		if (entry == null) {
			return this.name + ": " + completion + " was not due; " + (this.completedById.containsKey(completion.id())
					? "it had completed before" : "due is " + this.outstanding.peek());
		}
		this.completed.add(completion);
		this.completedById.put(completion.id(), completion);
		if (entry.opcode() != completion.opcode()) {
			return this.name + ": " + completion + " was posted as " + entry;
		}
		if (completion.isSuccess() && !entry.signaled()) {
			return this.name + ": " + completion + " was unsignaled";
		}
		if (completion.isSuccess() && !lengthFits(entry, completion)) {
			return this.name + ": " + completion + " has the wrong length for " + entry;
		}
		return null;
	}

	private boolean lengthFits(Entry entry, Completed completion) {
		return (entry.opcode() == WorkOpcode.RECEIVE)
				? completion.byteLength() >= 0 && completion.byteLength() <= entry.bytes()
				: completion.byteLength() == entry.bytes();
	}

	/** Unsignaled requests before it have succeeded in silence. */
	private @Nullable Entry takeInOrder(long id) {
		while (true) {
			Entry head = this.outstanding.peek();
			if (head == null || (head.id() != id && head.signaled())) {
				return null;
			}
			this.outstanding.remove();
			if (head.id() == id) {
				return head;
			}
		}
	}

	private @Nullable Entry takeAny(long id) {
		for (Iterator<Entry> entries = this.outstanding.iterator(); entries.hasNext();) {
			Entry entry = entries.next();
			if (entry.id() == id) {
				entries.remove();
				return entry;
			}
		}
		return null;
	}

	synchronized @Nullable Completed completion(long id) {
		return this.completedById.get(id);
	}

	/** All completions so far, in the order they came. */
	synchronized List<Completed> completed() {
		return List.copyOf(this.completed);
	}

	synchronized int completedCount() {
		return this.completed.size();
	}

	/** The completion that came as number {@code index}. */
	synchronized Completed completedAt(int index) {
		return this.completed.get(index);
	}

	/** Requests that still owe a completion. */
	synchronized int due() {
		return (int) this.outstanding.stream().filter(Entry::signaled).count();
	}

	/**
	 * Requests that take a place in the queue: unsignaled ones do until a later one has
	 * completed.
	 */
	synchronized int outstanding() {
		return this.outstanding.size();
	}

	synchronized String dump() {
		return this.name + ": " + this.completed.size() + " completed, " + this.outstanding.size() + " outstanding "
				+ this.outstanding.stream().limit(4).toList() + ", last completions "
				+ this.completed.subList(Math.max(0, this.completed.size() - 4), this.completed.size());
	}

	private record Entry(long id, WorkOpcode opcode, boolean signaled, long bytes) {
	}

}
