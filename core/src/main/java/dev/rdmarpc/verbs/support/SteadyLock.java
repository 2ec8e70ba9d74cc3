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

import java.util.concurrent.locks.ReentrantLock;

/**
 * A lock that can be taken without memory, too. Before Java 21 a {@link ReentrantLock}
 * that another thread has needs some to wait; where there is none, waiting is trying.
 */
public final class SteadyLock extends ReentrantLock {

	private static final long serialVersionUID = 1L;

	@Override
	@SuppressWarnings({ "ThreadPriorityCheck", "UnusedException" }) // its holder runs
	public void lock() {
		try {
			super.lock();
		}
		catch (OutOfMemoryError ex) {
			while (!tryLock()) {
				Thread.yield();
			}
		}
	}

}
