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

import org.jspecify.annotations.Nullable;

/**
 * What a caller is told of a handler's failure.
 *
 * @param status the status
 * @param detail the text
 * @param thrown an exception that the method declares, which the caller gets, or
 * {@code null}
 * @param declared how it travels
 */
record FailureReply(RpcStatus status, String detail, @Nullable Throwable thrown, @Nullable DeclaredException declared) {

	FailureReply(RpcStatus status, @Nullable String detail) {
		this(status, (detail != null) ? detail : "", null, null);
	}

	/**
	 * The metadata of the reply, with the exception if there is room for it.
	 * @param encoded what it would be otherwise
	 */
	byte[] metadata(ServedCall call, byte[] encoded) {
		if (this.thrown == null || this.declared == null) {
			return encoded;
		}
		CallMetadata metadata = call.context().replyMetadata();
		this.declared.write(this.thrown, metadata);
		return metadata.encode();
	}

}
