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

import java.io.IOException;
import java.nio.channels.Selector;

import org.jspecify.annotations.Nullable;

/**
 * A connection, as the engine that advances it and the life of its queue pair see it.
 * Guarded by the engine's lock.
 */
public interface EngineConnection {

	/** Its queue pair's. */
	QueuePairLifecycle<?> lifecycle();

	/** Registers the socket with a selector, for this connection. */
	void watch(Selector selector) throws IOException;

	/** The selector has found the socket ready; throws nothing. */
	void ready();

	/** Whether there is something to do of which nobody else tells the engine. */
	boolean isStalled();

	/** Whether all that was posted has left and all that was asked for is there. */
	boolean isIdle();

	/** The receive that an unfinished message occupies, or {@code null}. */
	@Nullable PostedReceive unfinishedReceive();

}
