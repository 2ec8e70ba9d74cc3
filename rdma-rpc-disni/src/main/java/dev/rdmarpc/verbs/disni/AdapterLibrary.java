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

import org.jspecify.annotations.Nullable;

/**
 * The native library as the provider uses it: found once, for the whole process.
 */
final class AdapterLibrary {

	private static @Nullable AdapterVerbs verbs;

	private AdapterLibrary() {
	}

	/** Loads the library, unless that was done. */
	static synchronized AdapterVerbs verbs() throws IOException {
		AdapterVerbs known = verbs;
		if (known == null) {
			NativeLibrary.load();
			String problem = NativeLibrary.problem();
			if (problem != null) {
				throw new IOException(problem);
			}
			known = NativeLibrary.extended() ? new ExtendedVerbs() : new PlainVerbs();
			verbs = known;
		}
		return known;
	}

}
