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

package dev.rdmarpc.verbs;

import org.jspecify.annotations.Nullable;

/**
 * A verb has failed; carries the kind of failure and a sentence naming object and cause.
 */
public class VerbsException extends RuntimeException {

	private final VerbsError error;

	private final byte[] privateData;

	/** Creates an exception without a cause. */
	public VerbsException(VerbsError error, String message) {
		this(error, message, null);
	}

	/** Creates an exception. */
	public VerbsException(VerbsError error, String message, @Nullable Throwable cause) {
		this(error, message, cause, new byte[0]);
	}

	/** Creates an exception that carries a rejecting peer's private data. */
	public VerbsException(VerbsError error, String message, @Nullable Throwable cause, byte[] privateData) {
		super(message, cause);
		this.error = error;
		this.privateData = privateData;
	}

	/** The kind of failure. */
	public VerbsError error() {
		return this.error;
	}

	/** The private data of a peer that rejected the connection; otherwise empty. */
	public byte[] privateData() {
		return this.privateData;
	}

}
