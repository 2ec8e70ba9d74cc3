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
import java.io.InputStream;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/** The native library on any machine, with or without a device. */
class NativeLibraryTests {

	/** Well aligned, and never followed. */
	private static final long ADDRESS = 4096;

	@Test
	void everyNativeMethodHasItsFunction() throws Exception {
		byte[] library = bundled();
		String symbols = new String(library, StandardCharsets.ISO_8859_1);
		List<String> missing = new ArrayList<>();
		for (String type : new String[] { "com.ibm.disni.verbs.impl.NativeDispatcher",
				"com.ibm.disni.util.NativeAffinity", NativeVerbs.class.getName() }) {
			for (Method method : Class.forName(type, false, getClass().getClassLoader()).getDeclaredMethods()) {
				if (Modifier.isNative(method.getModifiers())) {
					String symbol = "Java_" + type.replace('.', '_') + "_" + method.getName().replace("_", "_1");
					if (!symbols.contains("\0" + symbol + "\0")) {
						missing.add(symbol);
					}
				}
			}
		}
		assertThat(missing).isEmpty();
	}

	@Test
	void theLibraryLoadsAndDisniFindsIt() throws Exception {
		load();
		assertThat(NativeLibrary.extended()).isTrue();
		assertThat(com.ibm.disni.verbs.RdmaProvider.provider().getVersion()).isEqualTo(32);
		assertThat(com.ibm.disni.util.NativeAffinity.getAffinity()).isNotZero();
		assertThat(NativeVerbs.extensionVersion()).isEqualTo(NativeVerbs.EXTENSION_VERSION);
	}

	@Test
	void nothingIsLeftWhereTheLibraryWasExtracted() throws Exception {
		load();
		assumeTrue(NativeLibrary.origin().equals("the bundled library"), "another library was asked for");
		List<String> mapped = Files.readAllLines(Path.of("/proc/self/maps"), StandardCharsets.ISO_8859_1)
			.stream()
			.filter((line) -> line.contains("/libdisni.so"))
			.map((line) -> line.substring(line.indexOf('/')))
			.distinct()
			.toList();
		assertThat(mapped).singleElement().satisfies((file) -> {
			assertThat(file).endsWith(" (deleted)");
			assertThat(Path.of(file.replace(" (deleted)", "")).getParent()).doesNotExist();
		});
	}

	@Test
	void anExtractedFileBelongsToItsOwnerAlone(@TempDir Path directory) throws Exception {
		Path file = directory.resolve("library");
		NativeLibraryFile.extract(new byte[] { 1, 2, 3 }, file);
		assertThat(file).hasBinaryContent(new byte[] { 1, 2, 3 });
		assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file))).isEqualTo("rwx------");
		assertThatThrownBy(() -> NativeLibraryFile.extract(new byte[] { 4 }, file))
			.isInstanceOf(FileAlreadyExistsException.class);
	}

	@Test
	void platformsAreCalledAsInTheJar() {
		assertThat(NativeLibraryFile.platform("Linux", "amd64")).isEqualTo("linux-x86_64");
		assertThat(NativeLibraryFile.platform("Linux", "aarch64")).isEqualTo("linux-aarch64");
	}

	@Test
	void errorsAreExceptionsWithTheirNumber() throws Exception {
		load();
		assertThatThrownBy(() -> NativeVerbs.queuePairNumber(42)).isInstanceOfSatisfying(NativeVerbsException.class,
				(error) -> {
					assertThat(error.errno()).isEqualTo(NativeCalls.STALE_HANDLE);
					assertThat(error).hasMessage(
							"queue pair number: Bad file descriptor (EBADF), no open queue pair has the handle 0x2a");
				});
	}

	@Test
	void inventedHandlesAreRefusedEverywhere() throws Exception {
		load();
		for (int kind = 0; kind < 16; kind++) {
			for (long slot : new long[] { 0, 1, 511, 512, (1 << 24) - 1 }) {
				long handle = 77L << 28 | (long) kind << 24 | slot;
				refuses(() -> NativeVerbs.close(handle));
				refuses(() -> NativeVerbs.deviceName(handle));
				refuses(() -> NativeVerbs.awaitEvent(handle, ByteBuffer.allocateDirect(NativeLayout.EVENT_BYTES), 0));
				refuses(() -> NativeVerbs.awaitCompletion(handle, 0));
				refuses(() -> NativeVerbs.bindAddress(handle, new byte[4], 0, 0));
				refuses(() -> NativeVerbs.createQueuePair(handle, handle, handle, handle, 1, 1, 1, 1, 0));
				refuses(() -> NativeCalls.DISPATCHER._regMr(handle, ADDRESS, 16, 0, ADDRESS, ADDRESS, ADDRESS));
				refuses(() -> NativeVerbs.createSharedReceiveQueue(handle, 1, 1));
				assertThat(NativeCalls.postSend(handle, ADDRESS)).isEqualTo(NativeCalls.STALE_HANDLE);
				assertThat(NativeCalls.postReceive(handle, ADDRESS)).isEqualTo(NativeCalls.STALE_HANDLE);
				assertThat(NativeCalls.poll(handle, ADDRESS)).isEqualTo(NativeCalls.STALE_HANDLE);
				assertThat(NativeCalls.requestNotification(handle)).isEqualTo(NativeCalls.STALE_HANDLE);
			}
		}
	}

	@Test
	void misplacedRequestsAreRefused() throws Exception {
		load();
		assertThat(NativeCalls.postSend(0, 0)).isEqualTo(NativeCalls.INVALID_ARGUMENT);
		assertThat(NativeCalls.postReceive(0, 12345)).isEqualTo(NativeCalls.INVALID_ARGUMENT);
		assertThat(NativeCalls.poll(0, 0)).isEqualTo(NativeCalls.INVALID_ARGUMENT);
	}

	private static void load() {
		assumeTrue(isBundled(), "built without the native library");
		NativeLibrary.load();
		assertThat(NativeLibrary.problem()).isNull();
	}

	private static boolean isBundled() {
		return NativeLibrary.class.getResource(NativeLibraryFile.bundledResource()) != null;
	}

	private static byte[] bundled() throws IOException {
		assumeTrue(isBundled(), "built without the native library");
		try (InputStream input = NativeLibrary.class.getResourceAsStream(NativeLibraryFile.bundledResource())) {
			return input.readAllBytes();
		}
	}

	private static void refuses(NativeCalls.Call call) {
		assertThatThrownBy(call::make).isInstanceOf(NativeVerbsException.class);
	}

}
