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

package dev.rdmarpc.boot.autoconfigure;

import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;

/** Which properties hold tokens, which nobody is to see. */
final class Tokens {

	/** As properties, with brackets or without, and as environment variables. */
	private static final Pattern NAMES = Pattern
		.compile("(?i)^rdma[._]rpc[._](server[._]tokens|server\\[tokens|client[._\\[].*token)");

	private Tokens() {
	}

	static boolean isNameOf(String property) {
		return NAMES.matcher(property).find();
	}

	/** A value as it may be shown. */
	static @Nullable Object shown(String property, @Nullable Object value) {
		return isNameOf(property) ? "(not shown)" : value;
	}

}
