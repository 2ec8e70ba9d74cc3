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

package dev.rdmarpc.verbs.iwarp;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;

/** Wireshark on the command line, as an independent reader of captures. */
final class Tshark {

	private static final long TIMEOUT_SECONDS = 60;

	/**
	 * Heuristics that take a payload for another protocol are off, those that look for
	 * MPA come before well-known ports, all checksums are verified, and a TCP segment may
	 * hold many FPDUs.
	 */
	private static final List<String> OPTIONS = List.of("--disable-protocol", "rpcordma", "--disable-protocol",
			"smb_direct", "-o", "tcp.try_heuristic_first:TRUE", "-o", "tcp.check_checksum:TRUE", "-o",
			"ip.check_checksum:TRUE", "-o", "gui.max_tree_depth:5000");

	private final Path directory;

	private Tshark(Path directory) {
		this.directory = directory;
	}

	/** Works in a directory, which is empty. */
	static Tshark in(Path directory) {
		return new Tshark(directory);
	}

	/** Whether there is such a program; whether it works is for the tests to say. */
	static boolean isInstalled() {
		try {
			new ProcessBuilder("tshark", "--version").redirectErrorStream(true)
				.redirectOutput(ProcessBuilder.Redirect.DISCARD)
				.start()
				.waitFor(TIMEOUT_SECONDS, TimeUnit.SECONDS);
			return true;
		}
		catch (IOException ex) {
			return false;
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

	/** What it makes of a recording, cut into TCP segments of a size. */
	Dissection dissect(Recording recording, int segmentBytes) throws Exception {
		Path capture = this.directory.resolve("capture.pcap");
		Path dissection = this.directory.resolve("capture.pdml");
		Path errors = this.directory.resolve("errors");
		Files.deleteIfExists(capture);
		CaptureFile.write(recording, capture, segmentBytes);
		List<String> command = new ArrayList<>(List.of("tshark", "-n", "-r", capture.toString(), "-T", "pdml"));
		command.addAll(OPTIONS);
		ProcessBuilder builder = new ProcessBuilder(command).redirectOutput(dissection.toFile())
			.redirectError(errors.toFile());
		builder.environment().put("WIRESHARK_CONFIG_DIR", this.directory.toString());
		Process process = builder.start();
		if (!process.waitFor(TIMEOUT_SECONDS, TimeUnit.SECONDS)) {
			process.destroyForcibly();
		}
		assertThat(process.waitFor()).as("%s: %s", command, Files.readString(errors)).isZero();
		try (InputStream pdml = Files.newInputStream(dissection)) {
			return Dissection.parse(pdml);
		}
	}

}
