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

package dev.rdmarpc.rpc;

import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;

/**
 * What a caller is told of a handler's failure.
 *
 * @param status the status
 * @param detail the text
 * @param more adds to the metadata of the reply what goes with the text, or {@code null}
 */
record FailureReply(RpcStatus status, String detail, @Nullable Consumer<CallMetadata> more) {

	FailureReply(RpcStatus status, @Nullable String detail) {
		this(status, (detail != null) ? detail : "", null);
	}

	/**
	 * The metadata of the reply.
	 * @param encoded what it would be if there was nothing to add
	 */
	byte[] metadata(ServedCall call, byte[] encoded) {
		if (this.more == null) {
			return encoded;
		}
		CallMetadata metadata = call.context().replyMetadata();
		this.more.accept(metadata);
		return metadata.encode();
	}

}
