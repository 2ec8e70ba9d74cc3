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

package dev.rdmarpc;

/** Keeps a thread from making other ones for as long as a step lasts. */
public final class NoThread {

	private static final InheritableThreadLocal<Boolean> none = new InheritableThreadLocal<>() {
		@Override
		protected Boolean childValue(Boolean parent) {
			throw new OutOfMemoryError("thrown on purpose: no thread");
		}
	};

	private NoThread() {
	}

	/** Runs a step, in which the constructor of each thread fails. */
	public static void during(Runnable step) {
		none.set(true);
		try {
			step.run();
		}
		finally {
			none.remove();
		}
	}

}
