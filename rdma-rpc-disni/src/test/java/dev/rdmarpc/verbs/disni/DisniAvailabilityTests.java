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
import java.nio.file.Files;
import java.nio.file.Path;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import dev.rdmarpc.verbs.ProviderAvailability;

import static org.assertj.core.api.Assertions.assertThat;

/** The answers of {@link DisniAvailability}, on file systems made for the purpose. */
class DisniAvailabilityTests {

	@TempDir
	Path root;

	private final FixedLibrary library = new FixedLibrary();

	@BeforeEach
	void makeAMachineThatHasEverything() throws IOException {
		write("sys/class/infiniband/mlx5_0/ports/1/state", "4: ACTIVE\n");
		write("dev/infiniband/rdma_cm", "");
		write("dev/infiniband/uverbs0", "");
		write("proc/self/status", "Name:\tjava\nCapEff:\t0000000000000000\n");
		limit("unlimited");
	}

	@Test
	void everythingIsThere() {
		ProviderAvailability answer = answer(true);
		assertThat(answer.available()).isTrue();
		assertThat(answer.reason()).isEqualTo("mlx5_0 through the test's library, locked memory unlimited");
	}

	@Test
	void theKernelHasNoRdma() throws IOException {
		delete("sys/class/infiniband/mlx5_0/ports/1/state", "sys/class/infiniband/mlx5_0/ports/1",
				"sys/class/infiniband/mlx5_0/ports", "sys/class/infiniband/mlx5_0", "sys/class/infiniband");
		assertThatReason().contains("the kernel has no RDMA").doesNotContain("/dev/infiniband");
		assertThat(this.library.asked).as("loaded for nothing").isFalse();
	}

	@Test
	void thereIsNoDevice() throws IOException {
		delete("sys/class/infiniband/mlx5_0/ports/1/state", "sys/class/infiniband/mlx5_0/ports/1",
				"sys/class/infiniband/mlx5_0/ports", "sys/class/infiniband/mlx5_0");
		assertThatReason().contains("no RDMA device", "rdma link add");
	}

	@Test
	void theConnectionManagerIsMissing() throws IOException {
		delete("dev/infiniband/rdma_cm");
		assertThatReason().isEqualTo("/dev/infiniband/rdma_cm is missing: load the module rdma_ucm"
				+ " (a container must be given the file)");
	}

	@Test
	void theDeviceFileIsMissing() throws IOException {
		delete("dev/infiniband/uverbs0");
		assertThatReason().contains("/dev/infiniband/uverbs0 is missing: load the module ib_uverbs");
	}

	@Test
	void thePortIsDown() throws IOException {
		write("sys/class/infiniband/mlx5_0/ports/1/state", "1: DOWN\n");
		assertThatReason().contains("no active port (mlx5_0 port 1 is 1: DOWN)");
	}

	@Test
	void oneActivePortOfOneDeviceIsEnough() throws IOException {
		write("sys/class/infiniband/mlx5_0/ports/1/state", "1: DOWN\n");
		write("sys/class/infiniband/mlx5_1/ports/1/state", "4: ACTIVE\n");
		assertThat(answer(true).reason()).startsWith("mlx5_0, mlx5_1 through");
	}

	@Test
	void tooLittleMemoryMayBeLocked() throws IOException {
		limit("8388608");
		assertThatReason().contains("may lock 8192 KiB", "at least 64 MiB", "ulimit -l");
		limit("134217728");
		assertThat(answer(true).reason()).endsWith("locked memory 128 MiB");
	}

	@Test
	void whoHasTheCapabilityMayLockAnything() throws IOException {
		limit("65536");
		write("proc/self/status", "CapEff:\t0000000000004000\n");
		assertThat(answer(true).reason()).endsWith("locked memory unlimited");
	}

	@Test
	void theExportIsMissing() {
		ProviderAvailability answer = answer(false);
		assertThat(answer.available()).isFalse();
		assertThat(answer.reason()).contains("--add-exports java.base/sun.nio.ch=ALL-UNNAMED", "Add-Exports:");
	}

	@Test
	void theLibraryDoesNotLoad() {
		this.library.problem = "the bundled library does not load: libibverbs.so.1";
		assertThatReason().isEqualTo(this.library.problem);
	}

	@Test
	void allThatIsMissingIsSaidAtOnce() throws IOException {
		this.library.missing = "DiSNI is not on the class path";
		delete("dev/infiniband/rdma_cm");
		limit("65536");
		assertThat(answer(false).reason().split("; ")).hasSize(4);
	}

	@Test
	void thisMachineHasAnAnswer() {
		assertThat(DisniAvailability.check().reason()).isNotBlank();
	}

	private org.assertj.core.api.AbstractStringAssert<?> assertThatReason() {
		ProviderAvailability answer = answer(true);
		assertThat(answer.available()).isFalse();
		return assertThat(answer.reason());
	}

	private ProviderAvailability answer(boolean exported) {
		return new DisniAvailability(this.root, this.library, exported).answer();
	}

	private void limit(String soft) throws IOException {
		write("proc/self/limits", "Limit                     Soft Limit           Hard Limit           Units     \n"
				+ "Max locked memory         " + soft + "            unlimited            bytes     \n");
	}

	private void write(String file, String content) throws IOException {
		Path path = this.root.resolve(file);
		Files.createDirectories(path.getParent());
		Files.writeString(path, content);
	}

	private void delete(String... files) throws IOException {
		for (String file : files) {
			Files.delete(this.root.resolve(file));
		}
	}

	private static final class FixedLibrary implements DisniAvailability.Library {

		private @Nullable String missing;

		private @Nullable String problem;

		private boolean asked;

		@Override
		public @Nullable String missing() {
			return this.missing;
		}

		@Override
		public @Nullable String problem() {
			this.asked = true;
			return this.problem;
		}

		@Override
		public String origin() {
			return "the test's library";
		}

	}

}
