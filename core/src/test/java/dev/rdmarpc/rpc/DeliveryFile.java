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

import java.io.FileOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.BitSet;

/**
 * Notes which calls have been delivered, in a file to which several processes append, and
 * in which they are also after such a process was killed.
 */
final class DeliveryFile implements AutoCloseable {

	private final Path path;

	private final FileOutputStream file;

	DeliveryFile(Path path) throws IOException {
		this.path = path;
		this.file = new FileOutputStream(path.toFile(), true);
	}

	Path path() {
		return this.path;
	}

	/** A service that writes here. */
	Deliveries service() {
		return new Deliveries() {

			@Override
			public void deliver(long id) {
				note(id);
			}

			@Override
			public long ask(long id) {
				return id;
			}

			@Override
			public Tally tally(long from, long to) {
				return DeliveryFile.this.tally(from, to);
			}

		};
	}

	/** A channel would be closed by the interrupt of a handler whose caller has gone. */
	private void note(long id) {
		try {
			this.file.write(ByteBuffer.allocate(Long.BYTES).putLong(id).array());
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/**
	 * What was delivered to any process, of the calls from a number to before another.
	 */
	Tally tally(long from, long to) {
		try {
			BitSet once = new BitSet();
			BitSet again = new BitSet();
			ByteBuffer ids = ByteBuffer.wrap(Files.readAllBytes(this.path));
			while (ids.hasRemaining()) {
				long id = ids.getLong();
				if (id >= from && id < to) {
					int index = (int) (id - from);
					(once.get(index) ? again : once).set(index);
				}
			}
			return new Tally(once.cardinality(), again.cardinality());
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	@Override
	public void close() throws IOException {
		this.file.close();
	}

	/** A service of which one method must not be executed twice. */
	public interface Deliveries {

		/** Is executed once, or not at all if it fails. */
		void deliver(long id);

		@RdmaMethod(idempotent = true)
		long ask(long id);

		@RdmaMethod(idempotent = true)
		Tally tally(long from, long to);

	}

	/**
	 * What was delivered.
	 *
	 * @param calls how many different ones
	 * @param again how many of them more than once
	 */
	public record Tally(int calls, int again) {

	}

}
