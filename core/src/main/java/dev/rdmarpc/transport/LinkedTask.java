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
 * A task that can be left to a loop when there is no memory left for it to be noted down
 * with: it is linked to the one before it. It is left at most once at a time.
 */
public interface LinkedTask extends Runnable {

	/** The task left before it. */
	@Nullable LinkedTask before();

	/** Keeps the task left before it. */
	void before(@Nullable LinkedTask task);

}
