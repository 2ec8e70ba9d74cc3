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

import java.io.BufferedReader;
import java.io.IOException;
import java.io.Writer;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

import static org.assertj.core.api.Assertions.assertThat;

/** A process whose file descriptors are used up by its peers, and after that. */
@EnabledOnOs(OS.LINUX)
class DescriptorShortageTests {

	private static final int DESCRIPTORS = 120;

	/** Fewer than the half-open connections that one source may have. */
	private static final int FEW_DESCRIPTORS = 50;

	private final LinkedBlockingQueue<String> output = new LinkedBlockingQueue<>();

	private final List<String> log = new ArrayList<>();

	private final List<RawPeer> peers = new ArrayList<>();

	private Process process;

	@AfterEach
	void end() throws Exception {
		for (RawPeer peer : this.peers) {
			peer.close();
		}
		this.process.destroyForcibly();
		assertThat(this.process.waitFor(Endpoint.DEADLINE.toSeconds(), TimeUnit.SECONDS)).isTrue();
	}

	private InetSocketAddress start(int descriptors) throws Exception {
		String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
		this.process = new ProcessBuilder("sh", "-c", "ulimit -n " + descriptors + " && exec \"$@\"", "sh", java,
				"-Xmx128m", "-cp", System.getProperty("java.class.path"), AcceptingProcess.class.getName())
			.redirectErrorStream(true)
			.start();
		Thread reader = new Thread(this::read, "output-of-the-process");
		reader.setDaemon(true);
		reader.start();
		String ready = await((line) -> line.startsWith(AcceptingProcess.READY));
		return new InetSocketAddress(InetAddress.getLoopbackAddress(),
				Integer.parseInt(ready.substring(AcceptingProcess.READY.length())));
	}

	private void read() {
		try (BufferedReader lines = this.process.inputReader(StandardCharsets.UTF_8)) {
			lines.lines().forEach(this.output::add);
		}
		catch (IOException ex) {
			this.output.add(ex.toString());
		}
	}

	private String await(Predicate<String> wanted) throws InterruptedException {
		while (true) {
			String line = this.output.poll(Endpoint.DEADLINE.toSeconds(), TimeUnit.SECONDS);
			assertThat(line).as("a line after %s", this.log).isNotNull();
			this.log.add(line);
			if (wanted.test(line)) {
				return line;
			}
		}
	}

	/** Asks for messages received, processor time in ms, and whether all threads run. */
	private String[] report() throws Exception {
		Writer commands = this.process.outputWriter(StandardCharsets.UTF_8);
		commands.write("report\n");
		commands.flush();
		return await((line) -> line.startsWith(AcceptingProcess.REPORT)).substring(AcceptingProcess.REPORT.length())
			.split(" ");
	}

	private RawPeer connected(InetSocketAddress address) throws IOException {
		RawPeer peer = new RawPeer(address);
		this.peers.add(peer);
		peer.write(MpaFrameFlyweight.encodeEnhanced(true, 0, 4, 4, new byte[0]));
		return peer;
	}

	private RawPeer established(InetSocketAddress address) throws IOException {
		RawPeer peer = connected(address);
		assertThat(peer.readMpaFrame().rejected()).isFalse();
		return peer;
	}

	private void awaitReceived(int count) throws Exception {
		long deadline = System.nanoTime() + Endpoint.DEADLINE.toNanos();
		while (Integer.parseInt(report()[0]) < count) {
			assertThat(System.nanoTime()).as("deadline").isLessThan(deadline);
		}
	}

	@Test
	void establishedPeersUseUpAllDescriptors() throws Exception {
		InetSocketAddress address = start(DESCRIPTORS);
		RawPeer good = established(address);
		good.segment(Fpdu.send(1, new byte[10]));
		awaitReceived(1);
		List<RawPeer> waiting = new ArrayList<>();
		for (int i = 0; i < 2 * DESCRIPTORS; i++) {
			waiting.add(connected(address));
		}
		await((line) -> line.contains("Cannot accept connections"));
		long before = Long.parseLong(report()[1]);
		long start = System.nanoTime();
		while (System.nanoTime() - start < TimeUnit.SECONDS.toNanos(2)) {
			report();
			Thread.onSpinWait();
		}
		long used = Long.parseLong(report()[1]) - before;
		assertThat(used).as("ms of the processor in 2 s").isLessThan(1500);
		good.segment(Fpdu.send(2, new byte[10]));
		awaitReceived(2);
		for (RawPeer peer : waiting) {
			peer.close();
		}
		RawPeer late = established(address);
		late.segment(Fpdu.send(1, new byte[10]));
		awaitReceived(3);
		assertThat(report()[2]).isEqualTo("true");
		assertThat(this.log).filteredOn((line) -> line.contains("WARN") || line.contains("ERROR")).hasSizeLessThan(5);
	}

	@Test
	void silentPeersUseUpAllDescriptorsAndKeepNobodyOut() throws Exception {
		InetSocketAddress address = start(FEW_DESCRIPTORS);
		for (int i = 0; i < 2 * DESCRIPTORS; i++) {
			this.peers.add(new RawPeer(new Socket(address.getAddress(), address.getPort())));
		}
		RawPeer good = established(address);
		good.segment(Fpdu.send(1, new byte[10]));
		awaitReceived(1);
		assertThat(report()[2]).isEqualTo("true");
		assertThat(this.log).filteredOn((line) -> line.contains("WARN") || line.contains("ERROR")).hasSizeLessThan(5);
	}

}
