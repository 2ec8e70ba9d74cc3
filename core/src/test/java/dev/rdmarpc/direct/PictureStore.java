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

package dev.rdmarpc.direct;

import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

import dev.rdmarpc.memory.RegisteredBuffer;
import dev.rdmarpc.rpc.RpcContext;

/** Serves pictures from the memory they were received in. */
final class PictureStore implements Pictures, AutoCloseable {

	private final Map<String, RegisteredBuffer> pictures = new HashMap<>();

	@Override
	public synchronized void store(String name, RegisteredBuffer pixels) {
		RegisteredBuffer replaced = this.pictures.put(name, pixels.retain());
		if (replaced != null) {
			replaced.release();
		}
	}

	@Override
	public synchronized Optional<RegisteredBuffer> load(String name) {
		RegisteredBuffer found = this.pictures.get(name);
		if (found != null) {
			Objects.requireNonNull(RpcContext.current()).releaseAfterReply(found.retain());
		}
		return Optional.ofNullable(found);
	}

	@Override
	public int publish(Album album) {
		album.pictures().forEach((picture) -> store(album.title() + "/" + picture.name(), picture.pixels()));
		return album.pictures().size();
	}

	@Override
	public synchronized void close() {
		this.pictures.values().forEach(RegisteredBuffer::release);
		this.pictures.clear();
	}

}
