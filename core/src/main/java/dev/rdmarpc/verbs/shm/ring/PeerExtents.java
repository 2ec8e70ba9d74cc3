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

package dev.rdmarpc.verbs.shm.ring;

import java.nio.ByteBuffer;

import org.jspecify.annotations.Nullable;

/** The memory of a peer that trusts this side. */
@FunctionalInterface
public interface PeerExtents {

	/**
	 * Maps an extent, unless it is mapped already.
	 * @return all of it with its seal, in the byte order of the host, for reading;
	 * {@code null} if that is not possible
	 */
	@Nullable ByteBuffer find(long pool, long extent);

}
