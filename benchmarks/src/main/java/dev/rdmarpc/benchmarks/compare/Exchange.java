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

/** What a call carries in each direction. */
public enum Exchange {

	/** The payload goes there and comes back. */
	ECHO,

	/** The payload goes there, its length comes back in {@link #REPLY_BYTES} bytes. */
	UPLOAD;

	/** The size of the reply to an upload. */
	public static final int REPLY_BYTES = 8;

}
