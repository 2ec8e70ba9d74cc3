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

import org.jspecify.annotations.Nullable;

/**
 * A task that lists of tasks link through itself, so that noting it down needs no memory.
 * It is in one list at most at a time.
 */
public interface LinkedTask extends Runnable {

	/** The task that a list keeps behind this one. */
	@Nullable LinkedTask linked();

	/** Keeps another task behind this one. */
	void linked(@Nullable LinkedTask task);

}
