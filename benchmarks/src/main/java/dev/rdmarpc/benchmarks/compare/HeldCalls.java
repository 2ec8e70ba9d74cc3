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

package dev.rdmarpc.benchmarks.compare;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * The calls a server has not answered yet because the client has not released them, for
 * {@link Mode#WAITING}.
 */
public final class HeldCalls {

	private final Queue<Runnable> answers = new ConcurrentLinkedQueue<>();

	/** Holds a call. */
	public void hold(Runnable answer) {
		this.answers.add(answer);
	}

	/**
	 * Has the calls answered that are held.
	 * @return their number
	 */
	public long release() {
		long released = 0;
		Runnable answer = this.answers.poll();
		while (answer != null) {
			answer.run();
			released++;
			answer = this.answers.poll();
		}
		return released;
	}

}
