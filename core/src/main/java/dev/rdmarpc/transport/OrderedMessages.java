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

package dev.rdmarpc.transport;

import java.util.List;
import java.util.function.Consumer;
import java.util.function.Predicate;

import org.jspecify.annotations.Nullable;

/**
 * Messages that wait to be sent, the more urgent ones first and those of one class in the
 * order of their calls' deadlines. A message of several frames begins in that order and
 * then takes turns with the others of its class. Messages of one stream are of one class
 * and of one deadline, so they keep their order. Confined to the loop's driver.
 */
final class OrderedMessages {

	/** From the least urgent class on. */
	private final List<DeadlineQueue<OutgoingMessage>> classes = List.of(new DeadlineQueue<>(), new DeadlineQueue<>(),
			new DeadlineQueue<>());

	private final LoopMetrics metrics;

	/** How often each class was passed since it had its turn. */
	private final int[] passes = new int[Classes.COUNT];

	private int size;

	OrderedMessages(LoopMetrics metrics) {
		this.metrics = metrics;
	}

	/** Adds a message that has not begun. */
	void add(OutgoingMessage message) {
		this.classes.get(message.priority()).add(message.place(), message.dueNanos());
		this.size++;
	}

	/** Adds the rest of a message, whose turn is after those that wait. */
	void addRest(OutgoingMessage message) {
		this.classes.get(message.priority()).addBehind(message.place(), message.dueNanos());
		this.size++;
	}

	boolean isEmpty() {
		return this.size == 0;
	}

	int size() {
		return this.size;
	}

	/** The message whose turn it is, or {@code null} if there is none. */
	@Nullable OutgoingMessage peek() {
		OutgoingMessage next = null;
		for (int i = Classes.COUNT - 1; i >= 0; i--) {
			DeadlineQueue<OutgoingMessage> messages = this.classes.get(i);
			OutgoingMessage first = messages.first();
			if (messages.size() == this.size) {
				return first;
			}
			if (first != null && (next == null || Classes.isDue(i, this.passes[i]))) {
				next = first;
			}
		}
		return next;
	}

	/** Whether there are any that are more urgent than a class. */
	boolean hasAbove(int priority) {
		boolean any = false;
		for (int i = priority + 1; i < Classes.COUNT; i++) {
			any |= !this.classes.get(i).isEmpty();
		}
		return any;
	}

	/**
	 * The message whose turn is after another one, or {@code null} if there is none or it
	 * is to be decided.
	 */
	@Nullable OutgoingMessage following(OutgoingMessage message) {
		DeadlineQueue<OutgoingMessage> messages = this.classes.get(message.priority());
		return (messages.size() == this.size) ? messages.following(message.place()) : null;
	}

	/** Removes the message whose turn it was, and notes which classes it has passed. */
	void remove(OutgoingMessage next) {
		int taken = next.priority();
		this.classes.get(taken).take(next.place());
		this.size--;
		this.passes[taken] = 0;
		if (this.size > this.classes.get(taken).size()) {
			for (int i = 0; i < taken; i++) {
				if (!this.classes.get(i).isEmpty()) {
					this.passes[i]++;
					this.metrics.overtaken(i);
				}
			}
		}
	}

	/** Removes one that is as it should be, or returns {@code null}. */
	@Nullable OutgoingMessage removeFirst(Predicate<OutgoingMessage> wanted) {
		for (DeadlineQueue<OutgoingMessage> messages : this.classes) {
			OutgoingMessage message = messages.removeFirst(wanted);
			if (message != null) {
				this.size--;
				return message;
			}
		}
		return null;
	}

	/** Removes each one that is as it should be; in one pass. */
	void removeAll(Predicate<OutgoingMessage> wanted, Consumer<OutgoingMessage> taken) {
		for (DeadlineQueue<OutgoingMessage> messages : this.classes) {
			messages.removeAll(wanted, (message) -> {
				this.size--;
				taken.accept(message);
			});
		}
	}

	/** Whether one is as it should be. */
	boolean contains(Predicate<OutgoingMessage> wanted) {
		return this.classes.stream().anyMatch((messages) -> messages.contains(wanted));
	}

	/**
	 * Shows those of each class, the one added last first, as long as that goes on.
	 * @param goesOn whether to go on with the class
	 */
	void fromLast(Predicate<OutgoingMessage> goesOn) {
		this.classes.forEach((messages) -> messages.fromLast(goesOn));
	}

	/** Shows all of them, the more urgent ones first. */
	void forEach(Consumer<OutgoingMessage> seen) {
		for (int i = Classes.COUNT - 1; i >= 0; i--) {
			this.classes.get(i).forEach(seen);
		}
	}

	/** Removes one after the other, the more urgent ones first. */
	void drain(Consumer<OutgoingMessage> taken) {
		for (int i = Classes.COUNT - 1; i >= 0; i--) {
			DeadlineQueue<OutgoingMessage> messages = this.classes.get(i);
			for (OutgoingMessage message = messages.first(); message != null; message = messages.first()) {
				messages.remove(message.place());
				this.size--;
				taken.accept(message);
			}
		}
	}

}
