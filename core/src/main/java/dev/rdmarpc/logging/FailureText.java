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

package dev.rdmarpc.logging;

import org.jspecify.annotations.Nullable;

/**
 * What can be said of an exception of code that is not ours, whose own words may be
 * missing or fail in turn.
 */
public final class FailureText {

	private FailureText() {
	}

	/** Its class, and its message if it has one; does not throw. */
	public static String of(Throwable failure) {
		String message = message(failure);
		String type = failure.getClass().getName();
		return (message != null) ? type + ": " + message : type;
	}

	/** Its message, or {@code null} if it has none; does not throw. */
	@SuppressWarnings("UnusedException") // there is nothing else to say of either
	public static @Nullable String message(Throwable failure) {
		try {
			return failure.getMessage();
		}
		catch (Throwable ex) {
			return null;
		}
	}

}
