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

package dev.rdmarpc.verbs.shm;

import java.nio.file.Files;
import java.nio.file.Path;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

import dev.rdmarpc.verbs.QueuePair;
import dev.rdmarpc.verbs.QueuePairFault;

import static org.assertj.core.api.Assertions.assertThat;

/** The end of a connection in good order, however late it is noticed. */
class OrderlyEndTests {

	private static final int ROUNDS = 300;

	private final Logger logger = (Logger) LoggerFactory.getLogger(Engine.class);

	private final ListAppender<ILoggingEvent> lines = new ListAppender<>();

	private Path directory;

	private Station station;

	private Station peer;

	@BeforeEach
	void start() throws Exception {
		this.directory = Station.newDirectory();
		this.station = new Station(this.directory);
		this.peer = new Station(this.directory);
		this.logger.addAppender(this.lines);
		this.lines.start();
	}

	@AfterEach
	void nothingIsLeft() throws Exception {
		this.logger.detachAppender(this.lines);
		this.station.close();
		this.peer.close();
		assertThat(Station.files(this.directory)).isEmpty();
		Files.delete(this.directory.resolve(".lock"));
		Files.delete(this.directory);
	}

	/**
	 * Now and then, the word of the end comes between a look at the memory and one at the
	 * socket.
	 */
	@Test
	void memoryIsLeftAloneAfterTheEnd() throws Exception {
		for (int i = 0; i < ROUNDS; i++) {
			QueuePair queuePair = this.station.connect(this.peer);
			QueuePair back = this.peer.accepted.get(i);
			Thread ending = new Thread(() -> {
				this.peer.send(back);
				back.disconnect();
			}, "ends");
			ending.start();
			Station.awaitError(queuePair, this.station);
			assertThat(queuePair.fault().origin()).isEqualTo(QueuePairFault.Origin.DISCONNECT);
			int sent = i + 1;
			Station.pollUntil("the message", () -> this.station.received == sent, this.station);
			ending.join();
			queuePair.close();
			back.close();
		}
		assertThat(this.station.received).isEqualTo(ROUNDS);
		assertThat(this.lines.list).extracting(ILoggingEvent::getFormattedMessage).isEmpty();
	}

	/** A user's thread may be interrupted when it happens to poll. */
	@Test
	void endIsOrderlyForAThreadThatIsInterrupted() throws Exception {
		QueuePair queuePair = this.station.connect(this.peer);
		QueuePair back = this.peer.accepted.get(0);
		back.disconnect();
		Thread.currentThread().interrupt();
		Station.awaitError(queuePair, this.station);
		assertThat(Thread.interrupted()).isTrue();
		assertThat(queuePair.fault().origin()).isEqualTo(QueuePairFault.Origin.DISCONNECT);
		queuePair.close();
		back.close();
	}

}
