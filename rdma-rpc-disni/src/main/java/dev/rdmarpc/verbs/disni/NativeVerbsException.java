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

package dev.rdmarpc.verbs.disni;

import java.io.IOException;

/**
 * A verb of libibverbs or librdmacm failed. Thrown by our native library wherever DiSNI
 * expects an {@link IOException}.
 */
final class NativeVerbsException extends IOException {

	private static final long serialVersionUID = 1L;

	private final int errno;

	/** Called by the native library. */
	NativeVerbsException(String message, int errno) {
		super(message);
		this.errno = errno;
	}

	/** The system's number of the error, such as 12 for {@code ENOMEM}. */
	int errno() {
		return this.errno;
	}

}
