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
 * A value that its format cannot carry although the type is supported: a null element,
 * nesting beyond the limit (a cycle), text that is not well-formed UTF-16, an accessor
 * that throws.
 */
public final class UnencodableValueException extends CodecException {

	private static final int MAX_SHOWN_LENGTH = 120;

	private final String path;

	private final String reason;

	/** Creates an exception; the path is filled in by {@link #within(String)}. */
	public UnencodableValueException(String reason) {
		this("", reason, null);
	}

	/** Creates an exception with a cause. */
	public UnencodableValueException(String reason, @Nullable Throwable cause) {
		this("", reason, cause);
	}

	private UnencodableValueException(String path, String reason, @Nullable Throwable cause) {
		super(path.isEmpty() ? reason : shown(path) + ": " + reason, cause);
		this.path = path;
		this.reason = reason;
	}

	/** The path of a cycle is long, and says little. */
	private static String shown(String path) {
		int half = MAX_SHOWN_LENGTH / 2;
		return (path.length() <= MAX_SHOWN_LENGTH) ? path
				: path.substring(0, half) + " … " + path.substring(path.length() - half);
	}

	/** The same failure seen from the enclosing value. */
	public UnencodableValueException within(String enclosing) {
		String separator = (this.path.isEmpty() || this.path.startsWith("[")) ? "" : ".";
		UnencodableValueException outer = new UnencodableValueException(enclosing + separator + this.path, this.reason,
				getCause());
		outer.setStackTrace(getStackTrace());
		return outer;
	}

	/**
	 * Where the value is, from the parameter inwards, for example {@code order.items[3]}.
	 */
	public String path() {
		return this.path;
	}

}
