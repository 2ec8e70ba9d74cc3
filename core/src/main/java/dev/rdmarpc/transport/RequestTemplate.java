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
 * What every request to a method has in common.
 *
 * @param methodId which method
 * @param priority the code of its priority
 * @param argumentCount how many arguments the message holds, at most 255
 */
public record RequestTemplate(long methodId, int priority, int argumentCount) {

	/** No metadata. */
	public static final byte[] NO_METADATA = new byte[0];

	/** The code of the priority of calls that are neither urgent nor background work. */
	public static final int NORMAL_PRIORITY = 1;

}
