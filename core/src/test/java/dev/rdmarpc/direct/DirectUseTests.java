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

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import dev.rdmarpc.memory.LeakDetection;
import dev.rdmarpc.memory.MemoryOptions;
import dev.rdmarpc.memory.RegisteredBuffer;
import dev.rdmarpc.memory.RegisteredMemory;
import dev.rdmarpc.rpc.RpcClient;
import dev.rdmarpc.rpc.RpcException;
import dev.rdmarpc.transport.LoopMetrics;
import dev.rdmarpc.transport.RdmaTransport;
import dev.rdmarpc.transport.TransportOptions;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * The code of {@code docs/direct-use.md} does what the page says. Closing memory with
 * paranoid leak detection fails if anything is outstanding.
 */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class DirectUseTests {

	private static final long SEED = 20_261_121;

	private final PictureServer server = new PictureServer(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));

	private final RegisteredMemory memory = RegisteredMemory
		.create(MemoryOptions.DEFAULTS.withLeakDetection(LeakDetection.PARANOID));

	private final RdmaTransport transport = RdmaTransport.open(TransportOptions.DEFAULTS, this.memory);

	private final RpcClient client = RpcClient.builder()
		.transport(this.transport)
		.target("127.0.0.1", this.server.port())
		.build();

	private final Pictures pictures = this.client.proxy("pictures", Pictures.class);

	@AfterEach
	void nothingIsOutstanding() {
		this.client.close();
		this.transport.close();
		this.server.close();
		this.memory.close();
	}

	@ParameterizedTest
	@ValueSource(ints = { 0, 100, 20_000, 3 << 20 })
	void whatIsUploadedIsDownloaded(int length) throws Exception {
		byte[] pixels = random(length);
		upload("moon", pixels);
		assertThat(download("moon")).as("seed %d", SEED).isEqualTo(pixels);
		assertThat(download("sun")).isNull();
		PictureClient.copyPicture("127.0.0.1", this.server.port());
		assertThat(download("copy of moon")).as("seed %d", SEED).isEqualTo(pixels);
	}

	@Test
	void largeOnesAreReadFromWhereTheyLie() throws Exception {
		upload("moon", random(3 << 20));
		long before = read();
		long allocations = this.memory.metrics().allocatedBytes();
		RegisteredBuffer loaded = this.pictures.load("moon").orElseThrow();
		assertThat(read() - before).as("bytes read from the memory of the server").isGreaterThan(3 << 20);
		assertThat(this.memory.metrics().allocatedBytes() - allocations).as("memory of the result, held once")
			.isBetween(3L << 20, 4L << 20);
		loaded.release();
	}

	private long read() {
		return this.transport.loops().stream().map((loop) -> loop.metrics()).mapToLong(LoopMetrics::readBytes).sum();
	}

	@Test
	void filesAreSentFromWhereTheyAreMapped(@TempDir Path directory) throws Exception {
		byte[] pixels = random(2_000_000);
		Path file = Files.write(directory.resolve("stars.raw"), pixels);
		PictureClient.uploadFile(this.memory, this.pictures, file);
		assertThat(download("stars.raw")).as("seed %d", SEED).isEqualTo(pixels);
		assertThat(this.memory.metrics().userBytes()).isZero();
	}

	@Test
	void onePictureIsPartOfSeveralAlbums() throws Exception {
		byte[] bytes = random(200_000);
		RegisteredBuffer pixels = this.memory.allocate(bytes.length);
		pixels.buffer().put(bytes);
		PictureClient.AlbumPublisher publisher = this.client.proxy("pictures", PictureClient.AlbumPublisher.class);
		PictureClient.publishTo(List.of(publisher, publisher, publisher), this.memory, pixels);
		assertThat(pixels.release()).as("nobody else holds it").isTrue();
		for (int i = 0; i < 3; i++) {
			assertThat(download("nights " + i + "/moon")).as("seed %d", SEED).isEqualTo(bytes);
		}
	}

	@Test
	void anAlbumIsPublishedWithoutTheInterface() throws Exception {
		assertThat(PictureClient.publishByName(this.client)).isEqualTo(1);
		assertThat(download("nights/moon")).isEqualTo(new byte[64]);
	}

	@Test
	void whatIsTooLargeIsRefusedAndStaysTheCallers() {
		RegisteredBuffer pixels = this.memory.allocate(20 << 20);
		assertThat(PictureClient.storeIfThereIsRoom(this.pictures, "moon", pixels)).isFalse();
		assertThat(pixels.release()).isTrue();
		RegisteredBuffer small = this.memory.allocate(100);
		assertThat(PictureClient.storeIfThereIsRoom(this.pictures, "moon", small)).isTrue();
		small.release();
		assertThatExceptionOfType(RpcException.class)
			.isThrownBy(() -> PictureClient.storeIfThereIsRoom(this.pictures, "moon", small));
	}

	@Test
	void aPictureThatIsReplacedWhileItIsLoadedStaysWhole() throws Exception {
		int length = 100_000;
		CompletableFuture<Void> replacing = CompletableFuture.runAsync(() -> {
			RegisteredBuffer pixels = this.memory.allocate(length);
			for (int i = 0; i < 300; i++) {
				fill(pixels, (byte) i);
				this.pictures.store("moon", pixels);
			}
			pixels.release();
		});
		int whole = 0;
		while (!replacing.isDone()) {
			RegisteredBuffer loaded = this.pictures.load("moon").orElse(null);
			if (loaded != null) {
				ByteBuffer bytes = loaded.buffer();
				byte first = bytes.get(0);
				while (bytes.hasRemaining()) {
					assertThat(bytes.get()).isEqualTo(first);
				}
				loaded.release();
				whole++;
			}
		}
		replacing.get(60, TimeUnit.SECONDS);
		assertThat(whole).isPositive();
	}

	private static void fill(RegisteredBuffer buffer, byte value) {
		ByteBuffer bytes = buffer.buffer();
		while (bytes.hasRemaining()) {
			bytes.put(value);
		}
	}

	private void upload(String name, byte[] pixels) throws Exception {
		PictureClient.upload(this.memory, this.pictures, name, pixels.length,
				Channels.newChannel(new ByteArrayInputStream(pixels)));
	}

	private byte[] download(String name) throws Exception {
		ByteArrayOutputStream target = new ByteArrayOutputStream();
		return PictureClient.download(this.pictures, name, Channels.newChannel(target)) ? target.toByteArray() : null;
	}

	private static byte[] random(int length) {
		byte[] bytes = new byte[length];
		new Random(SEED).nextBytes(bytes);
		return bytes;
	}

}
