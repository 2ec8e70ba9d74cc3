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
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

import static org.assertj.core.api.Assertions.assertThat;

/** Lines that others can cause: one per interval, and none forgotten. */
final class RateLimitedLoggerTests {

	private static final Duration INTERVAL = Duration.ofSeconds(3);

	private final Logger logger = (Logger) LoggerFactory.getLogger(RateLimitedLoggerTests.class.getName() + ".lines");

	private final ListAppender<ILoggingEvent> lines = new ListAppender<>();

	private final AtomicLong clock = new AtomicLong(Long.MAX_VALUE - 1);

	private final RateLimitedLogger limited = new RateLimitedLogger(this.logger, INTERVAL, this.clock::get);

	@BeforeEach
	void record() {
		this.logger.setLevel(Level.INFO);
		this.logger.setAdditive(false);
		this.logger.addAppender(this.lines);
		this.lines.start();
	}

	@AfterEach
	void stop() {
		this.logger.detachAppender(this.lines);
	}

	private List<String> written() {
		return this.lines.list.stream().map(ILoggingEvent::getFormattedMessage).toList();
	}

	@Test
	void theFirstLineIsWrittenAndTheRestOfTheIntervalCounted() {
		for (int i = 0; i < 1000; i++) {
			this.limited.log(org.slf4j.event.Level.WARN, "peer {} did {}", "a", i);
		}
		this.clock.addAndGet(INTERVAL.toNanos() - 1);
		this.limited.log(org.slf4j.event.Level.WARN, "peer {} did {}", "b", 0);
		assertThat(written()).containsExactly("peer a did 0");
		this.clock.addAndGet(1);
		this.limited.log(org.slf4j.event.Level.WARN, "peer {} did {}", "c", 1);
		assertThat(written()).containsExactly("peer a did 0", "peer c did 1 (and 1000 more since the last such line)");
		this.clock.addAndGet(INTERVAL.toNanos());
		this.limited.log(org.slf4j.event.Level.WARN, "peer {} did {}", "d", 2);
		assertThat(written()).last().isEqualTo("peer d did 2");
	}

	@Test
	void anExceptionIsWrittenWithItsStack() {
		IllegalStateException cause = new IllegalStateException("seen");
		this.limited.log(org.slf4j.event.Level.ERROR, "peer {} failed", "a", cause);
		ILoggingEvent line = this.lines.list.get(0);
		assertThat(line.getLevel()).isEqualTo(Level.ERROR);
		assertThat(line.getFormattedMessage()).isEqualTo("peer a failed");
		assertThat(line.getThrowableProxy().getMessage()).isEqualTo("seen");
	}

	@Test
	void aLineThatCannotBeWrittenHarmsNobody() {
		this.limited.log(org.slf4j.event.Level.WARN, "peer {} failed", new Object() {
			@Override
			public String toString() {
				throw new OutOfMemoryError("on purpose");
			}
		});
		this.clock.addAndGet(INTERVAL.toNanos());
		this.limited.log(org.slf4j.event.Level.WARN, "peer {} failed", "b");
		assertThat(this.lines.list).last()
			.satisfies((line) -> assertThat(line.getFormattedMessage()).startsWith("peer b failed"));
	}

	@Test
	void linesBelowTheLevelNeitherCountNorUseTheIntervalUp() {
		this.limited.log(org.slf4j.event.Level.DEBUG, "not seen");
		this.limited.log(org.slf4j.event.Level.INFO, "seen");
		this.clock.addAndGet(INTERVAL.toNanos());
		this.limited.log(org.slf4j.event.Level.INFO, "seen again");
		assertThat(written()).containsExactly("seen", "seen again");
	}

	@Test
	void ofManyThreadsOneWritesAndTheOthersAreCounted() throws InterruptedException {
		ExecutorService threads = Executors.newFixedThreadPool(4);
		List<Runnable> tasks = new ArrayList<>();
		for (int i = 0; i < 4; i++) {
			tasks.add(() -> {
				for (int j = 0; j < 5000; j++) {
					this.limited.log(org.slf4j.event.Level.WARN, "many");
				}
			});
		}
		tasks.forEach(threads::execute);
		threads.shutdown();
		assertThat(threads.awaitTermination(30, TimeUnit.SECONDS)).isTrue();
		this.clock.addAndGet(INTERVAL.toNanos());
		this.limited.log(org.slf4j.event.Level.WARN, "many");
		assertThat(written()).hasSize(2);
		assertThat(written().stream().mapToInt(RateLimitedLoggerTests::more).sum())
			.as("the first line may count some already: %s", written())
			.isEqualTo(19_999);
	}

	private static int more(String line) {
		String digits = line.replaceAll("\\D", "");
		return digits.isEmpty() ? 0 : Integer.parseInt(digits);
	}

}
