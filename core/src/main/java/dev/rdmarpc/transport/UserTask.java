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

/**
 * Code of users that a turn of a loop has made ready: a handler, what depends on a
 * future, an observer. It runs once, after the turn, on a thread that does not drive the
 * loop. Neither method throws.
 */
public interface UserTask extends LinkedTask {

	/**
	 * Runs on the loop's thread, which has left the driver role. It may take as long as
	 * it likes: the loop goes on with another thread then.
	 */
	@Override
	void run();

	/**
	 * Runs on a thread of its own choice, because the one of the loop is held up or the
	 * loop is closed.
	 */
	void runElsewhere();

}
