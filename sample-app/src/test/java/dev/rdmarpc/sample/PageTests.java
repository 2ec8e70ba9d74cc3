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

package dev.rdmarpc.sample;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIf;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.core.io.ClassPathResource;

import dev.rdmarpc.rpc.RpcServer;

import static org.assertj.core.api.Assertions.assertThat;

/** The page, as it lies there and in a browser, while the load goes on. */
@SpringBootTest(webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT,
		properties = { "rdma.rpc.memory.leak-detection=paranoid", "load.enabled=true", "load.rate=200",
				"load.threads=2", "load.warmup=0s", "load.blob-size=64KB" })
class PageTests {

	private static final Pattern USED_ID = Pattern.compile("byId\\('(\\w+)'\\)");

	private static final Pattern SCROLL_WIDTH = Pattern.compile("data-scroll-width=\"(\\d+)\"");

	@LocalServerPort
	private int port;

	@Autowired
	private RpcServer server;

	@Test
	void needsNoOtherServer() throws Exception {
		for (String file : new String[] { "index.html", "page.js", "style.css" }) {
			assertThat(content(file)).as(file).doesNotContain("://").doesNotContain("src=\"//");
		}
	}

	@Test
	void scriptUsesWhatThePageHas() throws Exception {
		String page = content("index.html");
		Matcher used = USED_ID.matcher(content("page.js"));
		int found = 0;
		while (used.find()) {
			assertThat(page).contains("id=\"" + used.group(1) + "\"");
			found++;
		}
		assertThat(found).isGreaterThan(10);
	}

	@Test
	void loadGoesOn() {
		long begun = this.server.metrics().callsOnLoop() + this.server.metrics().callsOnExecutor();
		long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
		while (this.server.metrics().callsOnLoop() + this.server.metrics().callsOnExecutor() < begun + 200) {
			assertThat(System.nanoTime() - deadline).isNegative();
			Thread.onSpinWait();
		}
	}

	/** The page in a frame as wide as a telephone, and as wide as a screen. */
	@ParameterizedTest
	@ValueSource(ints = { 390, 1280 })
	@EnabledIf(value = "isChromiumInstalled", disabledReason = "Chromium is not installed (Debian: chromium)")
	void fitsIntoTheWindowAndShowsWhatHappens(int wide, @TempDir Path directory) throws Exception {
		String dom = dom(directory, "http://localhost:" + this.port + "/framed.html?width=" + wide);
		Matcher width = SCROLL_WIDTH.matcher(dom);
		assertThat(width.find()).as(dom).isTrue();
		assertThat(Integer.parseInt(width.group(1))).isLessThanOrEqualTo(wide);
		assertThat(dom).contains("data-methods=\"true\"")
			.contains("data-pairs=\"2\"")
			.contains("data-heat=\"true\"")
			.contains("data-priorities=\"3\"")
			.contains("data-rail=\"iwarp: ")
			.contains("data-provider=\"Provider iwarp");
	}

	private static String dom(Path directory, String address) throws IOException, InterruptedException {
		Path output = directory.resolve("dom.html");
		Process browser = new ProcessBuilder(String.valueOf(chromium()), "--headless", "--no-sandbox", "--disable-gpu",
				"--disable-dev-shm-usage", "--disable-quic", "--no-first-run", "--disable-background-networking",
				"--disable-component-update", "--disable-sync", "--user-data-dir=" + directory.resolve("profile"),
				"--virtual-time-budget=8000", "--dump-dom", address)
			.redirectOutput(output.toFile())
			.redirectError(ProcessBuilder.Redirect.DISCARD)
			.start();
		try {
			assertThat(browser.waitFor(120, TimeUnit.SECONDS)).isTrue();
		}
		finally {
			browser.destroyForcibly();
		}
		return Files.readString(output);
	}

	static boolean isChromiumInstalled() {
		return chromium() != null;
	}

	private static @Nullable Path chromium() {
		return Stream.of("/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome")
			.map(Path::of)
			.filter(Files::isExecutable)
			.findFirst()
			.orElse(null);
	}

	private static String content(String file) throws IOException {
		return new ClassPathResource("static/" + file).getContentAsString(StandardCharsets.UTF_8);
	}

}
