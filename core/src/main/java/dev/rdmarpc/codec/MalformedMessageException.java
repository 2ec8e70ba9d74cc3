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

package dev.rdmarpc.codec;

import org.jspecify.annotations.Nullable;

/**
 * A received message that is not what the format says: broken offsets, lengths or text,
 * nesting or size beyond the limits, or values that the target type rejects.
 */
public final class MalformedMessageException extends CodecException {

	/** Creates an exception without a cause. */
	public MalformedMessageException(String message) {
		super(message, null);
	}

	/** Creates an exception. */
	public MalformedMessageException(String message, @Nullable Throwable cause) {
		super(message, cause);
	}

}
