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

import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

import dev.rdmarpc.logging.RateLimitedLogger;

/**
 * Looks whether the devices of a transport's rails run. One that does not is closed, with
 * all that is open on it, and looked for at intervals that grow; when it is there again
 * it is opened, and who uses the rail is told.
 *
 * <p>
 * Implementation notes. The timer's thread only looks; what blocks runs on other threads.
 * A rail that is being repaired is in a set, so that there is one repair of it at a time.
 * A repair goes on as one task after the other and needs no end: the executors of a
 * closed transport refuse it.
 */
final class RailKeeper {

	private static final Logger logger = LoggerFactory.getLogger(RailKeeper.class);

	private static final RateLimitedLogger failures = new RateLimitedLogger(logger);

	private static final String CLOSED = "Looking for no rail any more: the transport is closed";

	private static final long LOOK_MILLIS = 500;

	private static final long FIRST_PAUSE_MILLIS = 250;

	private static final long LONGEST_PAUSE_MILLIS = 30_000;

	private final List<Rail> rails;

	private final ScheduledExecutorService timer;

	private final Executor threads;

	private final Consumer<Rail> whenLost;

	private final Set<Rail> inRepair = ConcurrentHashMap.newKeySet();

	private final Set<RailUser> users = ConcurrentHashMap.newKeySet();

	/**
	 * Creates a keeper that looks at nothing yet.
	 * @param timer whose thread is not to be blocked
	 * @param threads that may be
	 * @param whenLost closes all that is on a rail, and waits for that
	 */
	RailKeeper(List<Rail> rails, ScheduledExecutorService timer, Executor threads, Consumer<Rail> whenLost) {
		this.rails = rails;
		this.timer = timer;
		this.threads = threads;
		this.whenLost = whenLost;
	}

	/** Looks from now on, until the timer ends. */
	void start() {
		this.timer.scheduleWithFixedDelay(this::look, LOOK_MILLIS, LOOK_MILLIS, TimeUnit.MILLISECONDS);
	}

	/** Tells somebody of what becomes of rails. */
	void add(RailUser user) {
		this.users.add(user);
	}

	/** Tells no more. */
	void remove(RailUser user) {
		this.users.remove(user);
	}

	/** Whoever uses a rail that is lost now, and the log. */
	void tellLost(Rail rail) {
		try {
			logger.warn("Rail {} is down: {}; others in use: {}", rail, rail.problem(),
					this.rails.stream().filter(Rail::isRunning).toList());
		}
		finally {
			each(this.users, (user) -> user.lost(rail));
		}
	}

	/** Does something with each one, also where it fails with another. */
	static <T> void each(Collection<T> all, Consumer<T> action) {
		for (T one : all) {
			try {
				action.accept(one);
			}
			catch (Throwable ex) {
				failures.log(Level.WARN, "A lost rail was not left in order by {}", one, ex);
			}
		}
	}

	private void look() {
		for (Rail rail : this.rails) {
			try {
				look(rail);
			}
			catch (Throwable ex) {
				// there may be no memory; what is thrown would end the timer, and the
				// next look tries again
				logger.debug("Rail {} was not looked at", rail, ex);
			}
		}
	}

	private void look(Rail rail) {
		if (rail.isRunning() || !this.inRepair.add(rail)) {
			return;
		}
		boolean begun = false;
		try {
			elsewhere(() -> close(rail), rail);
			begun = true;
		}
		finally {
			if (!begun) {
				this.inRepair.remove(rail);
			}
		}
	}

	private void close(Rail rail) {
		try {
			this.whenLost.accept(rail);
		}
		catch (Throwable ex) {
			logger.warn("Rail {} was not left in order", rail, ex);
		}
		finally {
			openLater(rail, FIRST_PAUSE_MILLIS);
		}
	}

	private void open(Rail rail, long pauseMillis) {
		try {
			rail.reopen();
		}
		catch (Throwable ex) {
			long next = longer(pauseMillis);
			try {
				logger.debug("Rail {} is still down, and tried again in {} ms", rail, next, ex);
			}
			finally {
				openLater(rail, next);
			}
			return;
		}
		this.inRepair.remove(rail);
		tellReturned(rail, List.copyOf(this.users), FIRST_PAUSE_MILLIS);
	}

	private void openLater(Rail rail, long pauseMillis) {
		try {
			later(() -> open(rail, pauseMillis), pauseMillis, rail);
		}
		catch (Throwable ex) {
			givenUp(rail, ex);
		}
	}

	/** An address of an adapter may be there later than the adapter. */
	private void tellReturned(Rail rail, List<RailUser> told, long pauseMillis) {
		List<RailUser> again = told.stream()
			.filter((user) -> this.users.contains(user) && !user.tryReturn(rail))
			.toList();
		if (!again.isEmpty() && rail.isRunning()) {
			later(() -> tellReturned(rail, again, longer(pauseMillis)), pauseMillis, null);
		}
	}

	private static long longer(long pauseMillis) {
		return Math.min(2 * pauseMillis, LONGEST_PAUSE_MILLIS);
	}

	private void later(Runnable task, long millis, @Nullable Rail repaired) {
		try {
			this.timer.schedule(() -> elsewhere(task, repaired), millis, TimeUnit.MILLISECONDS);
		}
		catch (RejectedExecutionException ex) {
			logger.debug(CLOSED);
		}
		catch (Throwable ex) {
			givenUp(repaired, ex);
		}
	}

	private void elsewhere(Runnable task, @Nullable Rail repaired) {
		try {
			this.threads.execute(task);
		}
		catch (RejectedExecutionException ex) {
			logger.debug(CLOSED);
		}
		catch (Throwable ex) {
			later(task, LONGEST_PAUSE_MILLIS, repaired);
		}
	}

	/** There are no resources for the next step: the next look begins anew. */
	private void givenUp(@Nullable Rail repaired, Throwable why) {
		if (repaired != null) {
			this.inRepair.remove(repaired);
			failures.log(Level.WARN, "The repair of rail {} begins anew", repaired, why);
		}
	}

}
