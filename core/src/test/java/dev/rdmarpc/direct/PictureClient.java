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

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.ReadableByteChannel;
import java.nio.channels.WritableByteChannel;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;

import dev.rdmarpc.flatbuffers.GatherBuilder;
import dev.rdmarpc.flatbuffers.GatherMessage;
import dev.rdmarpc.flatbuffers.TableField;
import dev.rdmarpc.flatbuffers.TableType;
import dev.rdmarpc.memory.MemoryOptions;
import dev.rdmarpc.memory.RegisteredBuffer;
import dev.rdmarpc.memory.RegisteredMemory;
import dev.rdmarpc.rpc.GenericMethod;
import dev.rdmarpc.rpc.RpcClient;
import dev.rdmarpc.rpc.RpcClientOptions;
import dev.rdmarpc.rpc.RpcException;
import dev.rdmarpc.rpc.RpcStatus;
import dev.rdmarpc.transport.RdmaTransport;
import dev.rdmarpc.transport.TransportOptions;

/** What a client does with registered memory, in plain Java. */
final class PictureClient {

	private PictureClient() {
	}

	static void copyPicture(String host, int port) {
		try (RegisteredMemory memory = RegisteredMemory.create(MemoryOptions.DEFAULTS);
				RdmaTransport transport = RdmaTransport.open(TransportOptions.DEFAULTS, memory);
				RpcClient client = RpcClient.builder()
					.transport(transport)
					.target(host, port)
					.options(RpcClientOptions.DEFAULTS.withDefaultDeadline(Duration.ofSeconds(10)))
					.build()) {
			Pictures pictures = client.proxy("pictures", Pictures.class);
			pictures.load("moon").ifPresent((pixels) -> {
				pictures.store("copy of moon", pixels);
				pixels.release();
			});
		}
	}

	static void upload(RegisteredMemory memory, Pictures pictures, String name, int length, ReadableByteChannel source)
			throws IOException {
		RegisteredBuffer pixels = memory.allocate(length);
		try {
			ByteBuffer bytes = pixels.buffer();
			while (bytes.hasRemaining()) {
				if (source.read(bytes) < 0) {
					throw new EOFException("only " + bytes.position() + " of " + length + " bytes");
				}
			}
			pictures.store(name, pixels);
		}
		finally {
			pixels.release();
		}
	}

	static boolean download(Pictures pictures, String name, WritableByteChannel target) throws IOException {
		Optional<RegisteredBuffer> loaded = pictures.load(name);
		if (loaded.isEmpty()) {
			return false;
		}
		RegisteredBuffer pixels = loaded.get();
		try {
			ByteBuffer bytes = pixels.buffer();
			while (bytes.hasRemaining()) {
				target.write(bytes);
			}
			return true;
		}
		finally {
			pixels.release();
		}
	}

	static void publishTo(List<AlbumPublisher> servers, RegisteredMemory memory, RegisteredBuffer pixels) {
		try (GatherBuilder builder = new GatherBuilder(memory)) {
			GatherMessage picture = builder.begin(PictureTable.TYPE)
				.put(PictureTable.NAME, "moon")
				.put(PictureTable.PIXELS, pixels)
				.finish();
			try {
				for (int i = 0; i < servers.size(); i++) {
					builder.begin(AlbumTable.TYPE).put(AlbumTable.TITLE, "nights " + i);
					builder.begin(AlbumTable.PICTURES, 1).add(picture).end();
					GatherMessage album = builder.finish();
					try {
						servers.get(i).publish(album);
					}
					finally {
						album.release();
					}
				}
			}
			finally {
				picture.release();
			}
		}
	}

	static void uploadFile(RegisteredMemory memory, Pictures pictures, Path file) throws IOException {
		ByteBuffer mapped;
		try (FileChannel channel = FileChannel.open(file)) {
			mapped = channel.map(FileChannel.MapMode.READ_ONLY, 0, channel.size());
		}
		RegisteredBuffer pixels = memory.register(mapped);
		try {
			pictures.store(file.getFileName().toString(), pixels);
		}
		finally {
			pixels.release();
			memory.forget(mapped);
		}
	}

	static Object publishByName(RpcClient client) {
		GenericMethod publish = client.generic().method("pictures", "publish");
		Map<String, Object> moon = Map.of("name", "moon", "pixels", new byte[64]);
		return publish.call(Map.of("title", "nights", "pictures", List.of(moon)));
	}

	static boolean storeIfThereIsRoom(Pictures pictures, String name, RegisteredBuffer pixels) {
		try {
			pictures.store(name, pixels);
			return true;
		}
		catch (RpcException ex) {
			if (ex.status() == RpcStatus.RESOURCE_EXHAUSTED) {
				return false;
			}
			throw ex;
		}
	}

	static final class PictureTable {

		static final TableType TYPE = TableType.named("Picture");

		static final TableField.OfString NAME = TYPE.addString("name");

		static final TableField.OfBytes PIXELS = TYPE.addBytes("pixels");

		private PictureTable() {
		}

	}

	static final class AlbumTable {

		static final TableType TYPE = TableType.named("Album");

		static final TableField.OfString TITLE = TYPE.addString("title");

		static final TableField.OfTables PICTURES = TYPE.addTables("pictures", PictureTable.TYPE);

		private AlbumTable() {
		}

	}

	/** The method of {@link Pictures} for callers that build the message themselves. */
	interface AlbumPublisher {

		int publish(GatherMessage album);

	}

}
