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

package dev.rdmarpc.rpc;

import java.util.concurrent.CompletionStage;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import dev.rdmarpc.logging.FailureText;
import dev.rdmarpc.transport.ChannelLoop;
import dev.rdmarpc.transport.LinkableTask;
import dev.rdmarpc.transport.UserTask;

/** Cancels the stage of a handler: what depends on it is users' code. */
final class StageCancellation extends LinkableTask implements UserTask {

	private static final Logger logger = LoggerFactory.getLogger(StageCancellation.class);

	private final CompletionStage<?> stage;

	StageCancellation(CompletionStage<?> stage) {
		this.stage = stage;
	}

	/** Cancels a stage after the turn, if there is memory for that; driver. */
	static void afterTurn(ChannelLoop loop, CompletionStage<?> stage) {
		try {
			loop.afterTurn(new StageCancellation(stage));
		}
		catch (OutOfMemoryError ex) {
			logger.warn("A handler's stage goes on", ex);
		}
	}

	/** Not every stage can be cancelled, and what one that can does is up to its user. */
	@Override
	public void run() {
		try {
			this.stage.toCompletableFuture().cancel(true);
		}
		catch (Throwable ex) {
			logger.debug("A handler's stage goes on, for it cannot be cancelled: {}", FailureText.of(ex));
		}
	}

	@Override
	public void runElsewhere() {
		run();
	}

}
