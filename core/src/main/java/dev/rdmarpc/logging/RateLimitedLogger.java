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

package dev.rdmarpc.logging;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.event.EventConstants;
import org.slf4j.event.Level;

/**
 * A logger for lines that a peer or a caller can cause as often as it likes: it writes
 * one per interval, and with it how many there were in between. Used from any thread.
 *
 * <p>
 * One object stands for one kind of line, so that a frequent one does not hide another.
 *
 * <p>
 * Implementation notes. Whoever moves the end of the interval on writes the line. A line
 * that is counted between two writers is part of the later one's count.
 */
public final class RateLimitedLogger {

	/** The interval unless another one is given. */
	public static final Duration DEFAULT_INTERVAL = Duration.ofSeconds(10);

	private final Logger logger;

	private final long intervalNanos;

	private final LongSupplier clock;

	private final AtomicLong quietUntil;

	private final AtomicLong withheld = new AtomicLong();

	/**
	 * Creates a logger with {@link #DEFAULT_INTERVAL}.
	 * @param logger what writes
	 */
	public RateLimitedLogger(Logger logger) {
		this(logger, DEFAULT_INTERVAL, System::nanoTime);
	}

	RateLimitedLogger(Logger logger, Duration interval, LongSupplier clock) {
		this.logger = logger;
		this.intervalNanos = interval.toNanos();
		this.clock = clock;
		this.quietUntil = new AtomicLong(clock.getAsLong());
	}

	/**
	 * Writes a line, or counts it if one was written less than an interval ago. Throws
	 * nothing: a line that cannot be written, as when there is no memory, is left out.
	 * @param level the level; where it is switched off, nothing is written or counted
	 * @param format the line with a <code>{}</code> for each argument
	 * @param arguments what is inserted, and as the last one perhaps an exception
	 */
	public void log(Level level, String format, @Nullable Object... arguments) {
		try {
			if (this.logger.isEnabledForLevel(level)) {
				tryWrite(level, format, arguments);
			}
		}
		catch (Throwable ex) {
			this.withheld.getAndIncrement();
		}
	}

	/**
	 * The same with two arguments, which the caller needs no memory to pass: this does
	 * not throw where there is none.
	 */
	public void log(Level level, String format, @Nullable Object argument, @Nullable Object last) {
		try {
			log(level, format, new Object[] { argument, last });
		}
		catch (Throwable ex) {
			this.withheld.getAndIncrement();
		}
	}

	private void tryWrite(Level level, String format, @Nullable Object[] arguments) {
		long now = this.clock.getAsLong();
		long until = this.quietUntil.get();
		if (now - until < 0 || !this.quietUntil.compareAndSet(until, now + this.intervalNanos)) {
			this.withheld.getAndIncrement();
			return;
		}
		long more = this.withheld.getAndSet(0);
		String line = (more == 0) ? format : format + " (and " + more + " more since the last such line)";
		try {
			write(level, line, arguments);
		}
		catch (Throwable ex) {
			writeWithoutStack(level, line, arguments);
		}
	}

	/** An exception whose own methods throw cannot be written as one. */
	private void writeWithoutStack(Level level, String line, @Nullable Object... arguments) {
		@Nullable Object[] texts = arguments.clone();
		int last = texts.length - 1;
		if (last >= 0 && texts[last] instanceof Throwable failure) {
			texts[last] = FailureText.of(failure);
		}
		write(level, line + ": {}", texts);
	}

	private void write(Level level, String line, @Nullable Object... arguments) {
		switch (level.toInt()) {
			case EventConstants.ERROR_INT -> this.logger.error(line, arguments);
			case EventConstants.WARN_INT -> this.logger.warn(line, arguments);
			case EventConstants.INFO_INT -> this.logger.info(line, arguments);
			case EventConstants.DEBUG_INT -> this.logger.debug(line, arguments);
			default -> this.logger.trace(line, arguments);
		}
	}

}
