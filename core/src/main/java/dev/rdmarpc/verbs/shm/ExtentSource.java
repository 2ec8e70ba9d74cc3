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

package dev.rdmarpc.verbs.shm;

import java.io.IOException;
import java.lang.ref.Cleaner;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.MappedByteBuffer;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import dev.rdmarpc.verbs.MemorySource;
import dev.rdmarpc.verbs.shm.ring.ExtentOrigin;

/**
 * A source of memory that processes of the same user may map. Each piece is a file.
 *
 * <p>
 * Implementation notes. A piece takes no more than a part of what is free in the
 * directory, so that there is room left for the rings of connections: where there is
 * less, the pool has memory of its own, whose content peers are sent through the rings. A
 * file loses its name when its memory is found to be unreachable. It is never cut: a peer
 * could be reading it, though to no avail.
 */
final class ExtentSource implements MemorySource {

	private static final Logger logger = LoggerFactory.getLogger(ExtentSource.class);

	/** A piece is at most such a part of what is free. */
	private static final int FREE_FRACTION = 4;

	private static final Cleaner cleaner = Cleaner.create();

	private final Rendezvous rendezvous;

	private final OwnFiles files;

	ExtentSource(Rendezvous rendezvous) {
		this.rendezvous = rendezvous;
		this.files = OwnFiles.open(rendezvous);
	}

	@Override
	public @Nullable ProvidedMemory tryAllocate(int lengthBytes) {
		if (lengthBytes > this.rendezvous.freeBytes() / FREE_FRACTION) {
			return null;
		}
		long number = OwnFiles.newNumber();
		try {
			ExtentOrigin origin = new ExtentOrigin(this.files.owner(), number);
			ByteBuffer seal = ByteBuffer.allocate(ExtentOrigin.SEAL_BYTES).order(ByteOrder.nativeOrder());
			MappedByteBuffer memory = this.files.create(number, lengthBytes, seal.putLong(0, origin.seal()));
			cleaner.register(memory, new Removal(this.files, number));
			return new ProvidedMemory(memory, origin);
		}
		catch (IOException ex) {
			logger.debug("No file of {} bytes in {}", lengthBytes, this.rendezvous, ex);
			return null;
		}
	}

	@Override
	public void close() {
		this.files.close();
	}

	/** What is done when nobody uses the memory any more, which it does not refer to. */
	private record Removal(OwnFiles files, long number) implements Runnable {

		@Override
		public void run() {
			this.files.remove(this.number);
		}

	}

}
