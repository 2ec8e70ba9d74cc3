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

package dev.rdmarpc.verbs.support;

import java.nio.ByteBuffer;
import java.util.Set;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.verbs.AccessFlag;
import dev.rdmarpc.verbs.MemoryOrigin;
import dev.rdmarpc.verbs.ProtectionDomain;
import dev.rdmarpc.verbs.VerbsError;
import dev.rdmarpc.verbs.VerbsException;

/**
 * The arguments of {@link ProtectionDomain#registerMemory}, checked.
 *
 * @param memory a direct buffer of exactly the bytes to register
 * @param localWrite whether local work requests may fill them; who lets peers write does
 * @param remoteRead whether peers may read them
 * @param remoteWrite whether peers may write them
 * @param origin where the provider has the memory from, {@code null} if it is of the
 * process's own
 * @param originOffset where it begins in that
 */
public record Registration(ByteBuffer memory, boolean localWrite, boolean remoteRead, boolean remoteWrite,
		@Nullable MemoryOrigin origin, int originOffset) {

	/**
	 * Checks arguments.
	 * @param memory the bytes from position to limit
	 * @param access what is permitted besides local reads
	 * @throws VerbsException with {@link VerbsError#INVALID_ARGUMENT} if the memory is
	 * not direct, has no bytes, or is read-only although it is to be written
	 */
	public static Registration of(ByteBuffer memory, Set<AccessFlag> access) {
		boolean remoteWrite = access.contains(AccessFlag.REMOTE_WRITE);
		boolean localWrite = remoteWrite || access.contains(AccessFlag.LOCAL_WRITE);
		if (!memory.isDirect() || !memory.hasRemaining()) {
			throw new VerbsException(VerbsError.INVALID_ARGUMENT,
					memory + " cannot be registered (expected: a direct buffer with bytes remaining)");
		}
		if (memory.isReadOnly() && localWrite) {
			throw new VerbsException(VerbsError.INVALID_ARGUMENT,
					memory + " cannot be registered for writing (expected: a writable buffer)");
		}
		return new Registration(memory.slice(), localWrite, access.contains(AccessFlag.REMOTE_READ), remoteWrite, null,
				0);
	}

	/** The same, of memory that the provider knows. */
	public Registration of(@Nullable MemoryOrigin origin, int originOffset) {
		return new Registration(this.memory, this.localWrite, this.remoteRead, this.remoteWrite, origin, originOffset);
	}

	/** How many bytes are registered. */
	public int lengthBytes() {
		return this.memory.capacity();
	}

}
