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

import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Names of metadata by which a server says what has become of a call. No handler says
 * that, least of all by passing on what another server has said of another call.
 */
final class ReservedNames {

	private static final Set<String> ALL = Stream
		.of(Stream.of(Replies.REFUSED_KEY), MetadataFormat.names(DeclaredException.KEY),
				MetadataFormat.names(DetailsFormats.KEY))
		.flatMap((names) -> names)
		.collect(Collectors.toUnmodifiableSet());

	private ReservedNames() {
	}

	static boolean include(String name) {
		return ALL.contains(name);
	}

}
