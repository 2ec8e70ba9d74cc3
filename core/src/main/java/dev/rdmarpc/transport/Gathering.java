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

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.verbs.CompletionQueue;

/**
 * Has what a thread submits posted together. While a thread runs users' code of which it
 * is known that it submits several messages one after the other, it does not take the
 * driver role for each: it leaves them to whoever drives, and drives itself when the code
 * has returned. Meanwhile somebody who awaits completions is woken, so that nothing waits
 * for code that blocks.
 *
 * <p>
 * Implementation notes. A task is left in the inbox before {@code woken} is read. The
 * awaiter lowers {@code woken} before it looks into the inbox and sleeps. So either the
 * awaiter sees the task, or it is woken after it has lowered {@code woken}.
 *
 * <p>
 * {@code latest} saves the thread that gathers a look at its thread-locals for each
 * message. Only a thread itself writes its name there, and takes it back before it stops
 * gathering, so one that reads its own name gathers; one that does not looks further. A
 * thread that gathers for another loop meanwhile leaves what it submits here, too.
 */
final class Gathering {

	/**
	 * What the current thread submits to which loop is posted together. Set to nothing
	 * and not removed, after which the next entry of the thread would have to be made
	 * anew.
	 */
	private static final ThreadLocal<@Nullable Gathering> CURRENT = new ThreadLocal<>();

	private final LoopDriver driver;

	private final CompletionQueue completions;

	/** Who has begun to gather last, without any ordering. */
	private @Nullable Thread latest;

	/** Whether the awaiter was woken already. */
	private volatile boolean woken;

	Gathering(LoopDriver driver, CompletionQueue completions) {
		this.driver = driver;
		this.completions = completions;
	}

	/** Runs what submits much; any thread. */
	void run(Runnable work) {
		Gathering outer = CURRENT.get();
		if (outer == this || this.driver.isDriver()) {
			work.run();
			return;
		}
		CURRENT.set(this);
		try {
			this.latest = Thread.currentThread();
			work.run();
		}
		finally {
			this.latest = null;
			CURRENT.set(outer);
			if (!this.driver.thread().isCurrentAway()) {
				this.driver.help();
			}
		}
	}

	/** Whether the current thread runs what submits much. */
	boolean isCurrent() {
		return this.latest == Thread.currentThread() || CURRENT.get() == this;
	}

	/**
	 * Whether the current thread leaves to others what it has just added to the inbox.
	 * Does not throw, since that runs in any case.
	 * @param awaiter who sleeps until something happens, or is about to
	 */
	boolean leaves(@Nullable Thread awaiter) {
		try {
			return isLeftWith(awaiter);
		}
		catch (Throwable ex) {
			this.driver.failed(ex);
			return false;
		}
	}

	private boolean isLeftWith(@Nullable Thread awaiter) {
		if (this.driver.thread().isCurrentAway()) {
			return true;
		}
		if (!isCurrent()) {
			return false;
		}
		if (awaiter != null) {
			if (!this.woken) {
				this.woken = true;
				this.completions.wakeUp();
			}
		}
		else if (!this.driver.isDriven()) {
			this.driver.thread().wakeIfStandingBy();
		}
		return true;
	}

	/** The awaiter is about to look into the inbox a last time. */
	void awaits() {
		this.woken = false;
	}

}
