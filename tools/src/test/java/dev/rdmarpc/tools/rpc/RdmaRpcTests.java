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

package dev.rdmarpc.tools.rpc;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.math.BigDecimal;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Flow;
import java.util.concurrent.SubmissionPublisher;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

import dev.rdmarpc.TestCertificates;
import dev.rdmarpc.memory.LeakDetection;
import dev.rdmarpc.memory.MemoryOptions;
import dev.rdmarpc.memory.RegisteredMemory;
import dev.rdmarpc.rpc.RdmaMethod;
import dev.rdmarpc.rpc.RpcException;
import dev.rdmarpc.rpc.RpcServer;
import dev.rdmarpc.rpc.RpcServerOptions;
import dev.rdmarpc.rpc.RpcStatus;
import dev.rdmarpc.transport.ChannelSecurity;
import dev.rdmarpc.transport.RdmaAuthenticator;
import dev.rdmarpc.transport.RdmaTransport;
import dev.rdmarpc.transport.TransportOptions;
import dev.rdmarpc.verbs.TlsOptions;

import static org.assertj.core.api.Assertions.assertThat;

/** The commands of {@code rdma-rpc}, on a server in this process. */
class RdmaRpcTests {

	private static RegisteredMemory memory;

	private static RdmaTransport transport;

	private static RpcServer server;

	private static String address;

	private final StringWriter out = new StringWriter();

	private final StringWriter err = new StringWriter();

	@BeforeAll
	static void serve() {
		memory = RegisteredMemory
			.create(MemoryOptions.DEFAULTS.withInitialBytes(4L << 20).withLeakDetection(LeakDetection.PARANOID));
		transport = RdmaTransport.open(TransportOptions.DEFAULTS.withProvider("iwarp", ""), memory);
		server = builder().reflection().build().start();
		address = "127.0.0.1:" + server.port();
	}

	private static RpcServer.Builder builder() {
		return RpcServer.builder()
			.transport(transport)
			.options(RpcServerOptions.DEFAULTS.withLoopback(0))
			.service("catalog", Catalog.class, new CatalogService());
	}

	@AfterAll
	static void nothingIsOutstanding() {
		server.close();
		transport.close();
		assertThat(memory.metrics().allocatedBytes()).isZero();
		memory.close();
	}

	private int run(String... arguments) {
		CommandLine commandLine = RdmaRpc.commandLine();
		commandLine.setOut(new PrintWriter(this.out)).setErr(new PrintWriter(this.err));
		return commandLine.execute(arguments);
	}

	@Test
	void servicesAndSchemasAreShown() {
		assertThat(run("services", address)).as("%s", this.err).isZero();
		assertThat(this.out.toString().lines()).contains("catalog", "  find, 1 parameter, idempotent",
				"  follow, 1 parameter, replies with a stream", "dev.rdmarpc.reflection.v1");
		assertThat(run("services", address, "catalog")).isZero();
		assertThat(this.out.toString()).contains("table Article {", "rpc_service catalog {");
	}

	@Test
	void methodsAreCalledWithJson(@TempDir Path directory) throws IOException {
		assertThat(run("call", address, "catalog", "find", "{\"name\": \"lamp\"}", "--compact")).as("%s", this.err)
			.isZero();
		assertThat(this.out)
			.hasToString("{\"name\":\"lamp\",\"price\":12.50,\"image\":\"AQI=\"}" + System.lineSeparator());
		Path file = Files.writeString(directory.resolve("arguments.json"),
				"{\"name\": \"desk\", \"price\": 1e2, \"image\": \"AQID\"}");
		assertThat(run("call", address, "catalog", "put", "@" + file)).as("%s", this.err).isZero();
		assertThat(this.out.toString()).endsWith("3" + System.lineSeparator());
		assertThat(run("call", address, "catalog", "clear")).isZero();
	}

	@Test
	void aStreamIsALineForEachMessage() {
		assertThat(run("call", address, "catalog", "follow", "{\"count\": 5}", "--most", "3")).as("%s", this.err)
			.isZero();
		assertThat(this.out.toString().lines()).containsExactly("\"0\"", "\"1\"", "\"2\"");
		assertThat(run("call", address, "catalog", "follow", "{\"count\": 2}")).isZero();
		assertThat(this.out.toString().lines()).hasSize(5);
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '`', value = {
			"call ADDRESS catalog find {\"name\":7} | 2 | rdma-rpc: arguments cannot be encoded: name: 7 (expected: string)",
			"call ADDRESS catalog find {\"nam\":1} | 2 | nam: FindArguments has no such field (expected: name)",
			"call ADDRESS catalog find {x | 2 | the arguments are no JSON",
			"call ADDRESS catalog find @/no/such/file | 2 | there is no file /no/such/file",
			"call ADDRESS catalog lose {} | 3 | rdma-rpc: NOT_FOUND: catalog has no method lose",
			"call ADDRESS shop find {} | 3 | rdma-rpc: NOT_FOUND: there is no service shop",
			"call ADDRESS catalog find {\"name\":\"none\"} | 3 | rdma-rpc: NOT_FOUND: none of that name",
			"bench ADDRESS catalog | 2 | no method of catalog",
			"bench ADDRESS -c 0 | 2 | 0 threads (expected: 1 to 1024)", "ping ADDRESS -n 0 | 2 | count of 0",
			"ping host:x | 2 | 'host:x' is no address", "ping ADDRESS --timeout -1 | 2 | timeout of -1.0",
			"ping | 2 | Missing required parameter",
			"ping ADDRESS --tls-any-host | 2 | --tls-any-host without TLS (expected: --tls or --tls-ca as well)",
			"call ADDRESS catalog weigh {\"grams\":1e400} | 2 | grams: 1E+400 (expected: double, at most 1.79",
			"top localhost:1 -n -1 | 2 | count of -1 (expected: lines, 0 for ever)",
			"ping ADDRESS --tls-ca /no/such/file | 2 | there is no file /no/such/file",
			"ping ADDRESS --provider pigeon | 1 | There is no verbs provider 'pigeon'",
			"top localhost:1 -n 1 | 1 | http://localhost:1/actuator/rdma cannot be reached",
			"top localhost:1 -H x | 2 | header 'x' (expected: NAME:VALUE)", "bake | 2 | Unmatched argument" })
	void whatIsWrongIsOneLine(String arguments, int status, String message) {
		assertThat(run(arguments.replace("ADDRESS", address).split(" ", -1))).isEqualTo(status);
		assertThat(this.err.toString()).contains(message);
		assertThat(this.err.toString().lines()).hasSizeLessThanOrEqualTo(2).first().asString().startsWith("rdma-rpc: ");
	}

	@Test
	void pingAndBenchSayHowLongCallsTake() {
		assertThat(run("ping", address, "-n", "3")).as("%s", this.err).isZero();
		assertThat(this.out.toString().lines()).anyMatch((line) -> line.startsWith("provider "))
			.anyMatch((line) -> line
				.matches("connected to .*127.0.0.1.*:\\d+, first answer after \\S+ ms; with reflection"))
			.anyMatch((line) -> line.matches("3 calls, latency in us:  min \\S+  p50 .*  max \\S+"));
		assertThat(run("bench", address, "catalog", "find", "{\"name\": \"lamp\"}", "-d", "1", "--warm-up", "0", "-c",
				"2"))
			.as("%s", this.err)
			.isZero();
		assertThat(this.out.toString().lines())
			.anyMatch((line) -> line.matches("[1-9]\\d* calls by 2 threads in \\d+\\.\\d+ s, \\d+ calls/s, 0 failed"))
			.anyMatch((line) -> line.matches("latency in us:  min .*"));
		assertThat(run("bench", address, "catalog", "find", "{\"name\": \"none\"}", "-d", "1", "--warm-up", "0"))
			.isEqualTo(3);
	}

	@Test
	void aServerWithoutReflectionIsPingedAndSaysSo() {
		try (RpcServer other = builder().build().start()) {
			String there = "127.0.0.1:" + other.port();
			assertThat(run("ping", there, "-n", "1")).as("%s", this.err).isZero();
			assertThat(this.out.toString()).contains("; without reflection");
			assertThat(run("services", there)).isEqualTo(3);
			assertThat(this.err.toString()).startsWith("rdma-rpc: UNIMPLEMENTED: the server has no reflection");
		}
	}

	@Test
	void nobodyThereIsAFailure() throws IOException {
		int free;
		try (ServerSocket taken = new ServerSocket(0, 1)) {
			free = taken.getLocalPort();
		}
		assertThat(run("services", "127.0.0.1:" + free)).isEqualTo(1);
		assertThat(this.err.toString()).startsWith("rdma-rpc: UNAVAILABLE: ").contains("" + free);
	}

	@Test
	void whoDoesNotAnswerIsAFailure() throws IOException {
		try (ServerSocket silent = new ServerSocket(0, 10, InetAddress.getLoopbackAddress())) {
			assertThat(run("ping", "127.0.0.1:" + silent.getLocalPort(), "--provider", "iwarp", "--timeout", "0.3"))
				.isEqualTo(1);
			assertThat(this.err.toString()).startsWith("rdma-rpc: ").contains("in time");
		}
	}

	@Test
	void aTokenIsShown() {
		ChannelSecurity asked = ChannelSecurity.NONE.withAuthenticator(
				RdmaAuthenticator.ofTokens(Map.of("operator", "secret".getBytes(StandardCharsets.UTF_8))));
		RpcServerOptions options = RpcServerOptions.DEFAULTS.withLoopback(0);
		try (RpcServer strict = builder().options(options.withChannel(options.channel().withSecurity(asked)))
			.build()
			.start()) {
			String there = "127.0.0.1:" + strict.port();
			assertThat(run("ping", there, "-n", "1", "--token", "secret")).as("%s", this.err).isZero();
			assertThat(run("ping", there, "-n", "1")).isEqualTo(1);
			assertThat(this.err.toString()).startsWith("rdma-rpc: UNAUTHENTICATED: ");
		}
	}

	@Test
	void certificatesAreVerified(@TempDir Path directory) throws IOException {
		TestCertificates own = TestCertificates.server();
		Path trusted = Files.writeString(directory.resolve("ca.pem"), own.certificatePem());
		Path empty = Files.writeString(directory.resolve("empty.pem"), "");
		ChannelSecurity asked = ChannelSecurity.NONE.withTls(TlsOptions.of(own::context));
		RpcServerOptions options = RpcServerOptions.DEFAULTS.withLoopback(0);
		try (RpcServer secret = builder().options(options.withChannel(options.channel().withSecurity(asked)))
			.build()
			.start()) {
			String there = "127.0.0.1:" + secret.port();
			assertThat(run("ping", there, "--provider", "iwarp", "-n", "1", "--tls-ca", "" + trusted))
				.as("%s", this.err)
				.isZero();
			assertThat(run("ping", there, "--provider", "iwarp", "-n", "1", "--tls")).isEqualTo(1);
			assertThat(run("ping", there, "--provider", "iwarp", "-n", "1")).isEqualTo(1);
			assertThat(this.err.toString().lines()).hasSize(2)
				.allMatch((line) -> line.startsWith("rdma-rpc: UNAVAILABLE: "))
				.last()
				.asString()
				.contains("TLS is required");
			assertThat(run("ping", there, "--tls-ca", "" + empty)).isEqualTo(2);
			assertThat(this.err.toString()).contains("empty.pem cannot be read (expected: certificates in PEM)");
		}
	}

	@Test
	void topShowsRates() throws IOException {
		try (ServerSocket actuator = new ServerSocket(0, 10, InetAddress.getLoopbackAddress())) {
			Thread answering = new Thread(() -> answer(actuator), "actuator-of-the-test");
			answering.setDaemon(true);
			answering.start();
			String there = "127.0.0.1:" + actuator.getLocalPort();
			assertThat(run("top", there, "-n", "2", "-i", "0.05", "-H", "Known: yes")).as("%s", this.err).isZero();
			List<String> lines = this.out.toString().lines().toList();
			assertThat(lines).hasSize(3).first().asString().startsWith("server").contains("frame/s");
			String[] columns = lines.get(2).trim().split(" +");
			assertThat(columns).startsWith("RUNNING", "3", "7", "9", "1");
			assertThat(Double.parseDouble(columns[6])).isBetween(1.0, 20_000.0);
			assertThat(columns[9]).isEqualTo("4.0");
			assertThat(run("top", there, "-n", "1")).isEqualTo(1);
			assertThat(this.err.toString()).contains("answers with status 401 (expected: 200)");
		}
	}

	@Test
	void topOfAnotherEndpointIsAFailure() throws IOException {
		try (ServerSocket actuator = new ServerSocket(0, 10, InetAddress.getLoopbackAddress())) {
			Thread answering = new Thread(() -> answer(actuator), "actuator-of-the-test");
			answering.setDaemon(true);
			answering.start();
			String there = "127.0.0.1:" + actuator.getLocalPort() + "/actuator/health";
			assertThat(run("top", there, "-n", "1", "-H", "Known: no")).isEqualTo(1);
			assertThat(this.err.toString())
				.contains("answers with JSON of something else (expected: the endpoint rdma)");
		}
	}

	/** As where the output is piped into a program that has ended. */
	@Test
	@Timeout(60)
	void endlessOutputEndsWhenNobodyReadsIt() throws IOException {
		AtomicInteger writes = new AtomicInteger();
		Writer broken = new Writer() {

			@Override
			public void write(char[] text, int from, int length) throws IOException {
				writes.incrementAndGet();
				throw new IOException("broken pipe");
			}

			@Override
			public void flush() {
				// nothing is kept
			}

			@Override
			public void close() {
				// nothing is kept
			}

		};
		CommandLine commandLine = RdmaRpc.commandLine().setOut(new PrintWriter(broken));
		assertThat(commandLine.execute("call", address, "catalog", "follow", "{\"count\": 10000}")).isZero();
		assertThat(writes).hasValueLessThan(100);
		try (ServerSocket actuator = new ServerSocket(0, 10, InetAddress.getLoopbackAddress())) {
			Thread answering = new Thread(() -> answer(actuator), "actuator-of-the-test");
			answering.setDaemon(true);
			answering.start();
			assertThat(commandLine.execute("top", "127.0.0.1:" + actuator.getLocalPort(), "-i", "0.05", "-H",
					"Known: yes"))
				.isZero();
		}
	}

	private static void answer(ServerSocket actuator) {
		for (int times = 0; !actuator.isClosed(); times++) {
			try (Socket accepted = actuator.accept()) {
				BufferedReader request = new BufferedReader(
						new InputStreamReader(accepted.getInputStream(), StandardCharsets.UTF_8));
				List<String> headers = new ArrayList<>();
				for (String line = request.readLine(); line != null && !line.isEmpty(); line = request.readLine()) {
					headers.add(line);
				}
				boolean other = headers.contains("Known: no");
				String status = (other || headers.contains("Known: yes")) ? "200 OK" : "401 Unauthorized";
				String body = "{\"provider\":\"iwarp\",\"server\":{\"state\":\"RUNNING\",\"connections\":2,\"activeCalls\":7},"
						+ "\"memory\":{\"allocated\":4000000},\"problems\":[],"
						+ "\"clients\":[{\"pool\":{\"open\":1,\"outstandingCalls\":9}}],\"loops\":[{\"sentFrames\":"
						+ times * 10 + ",\"receivedFrames\":0,\"sentBytes\":" + times * 1_000_000_000L + "}]}";
				body = other ? "{\"status\":\"UP\"}" : body;
				accepted.getOutputStream()
					.write(("HTTP/1.1 " + status + "\r\nConnection: close\r\nContent-Length: " + body.length()
							+ "\r\n\r\n" + body)
						.getBytes(StandardCharsets.UTF_8));
			}
			catch (IOException ex) {
				if (!actuator.isClosed()) {
					throw new UncheckedIOException(ex);
				}
			}
		}
	}

	@Test
	void devicesHelpAndCompletionArePrinted() {
		assertThat(run("devices")).isZero();
		assertThat(this.out.toString()).contains("iwarp: available");
		assertThat(run("--help")).isZero();
		assertThat(this.out.toString()).contains("devices", "ping", "bench", "services", "call", "top",
				"It ends with:");
		assertThat(run("generate-completion")).isZero();
		assertThat(this.out.toString()).contains("complete -F _complete_rdma-rpc ", "services");
		assertThat(run("call", "--help")).isZero();
		assertThat(this.out.toString()).contains("SERVICE", "METHOD", "--tls-ca").doesNotContain("RDMA_RPC_TOKEN}");
	}

	@Test
	void aProcessOfItsOwnEndsWithTheStatus() throws Exception {
		Process process = start("call", address, "catalog", "find", "{\"name\": \"lamp\"}", "--compact");
		assertThat(process.getInputStream()).asString(StandardCharsets.UTF_8)
			.isEqualToIgnoringNewLines("{\"name\":\"lamp\",\"price\":12.50,\"image\":\"AQI=\"}");
		assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
		assertThat(process.exitValue()).isZero();
	}

	private static Process start(String... arguments) throws IOException {
		List<String> command = new ArrayList<>(List.of(
				Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-Xmx64m",
				"-XX:TieredStopAtLevel=1", "-cp", System.getProperty("java.class.path"), RdmaRpc.class.getName()));
		command.addAll(List.of(arguments));
		return new ProcessBuilder(command).redirectErrorStream(true).start();
	}

	/** What is served. */
	public interface Catalog {

		@RdmaMethod(idempotent = true)
		Article find(String name);

		int put(Article article);

		void clear();

		double weigh(double grams);

		Flow.Publisher<String> follow(int count);

	}

	/** An article. */
	public record Article(String name, BigDecimal price, byte[] image) {

	}

	/** The service. */
	public static final class CatalogService implements Catalog {

		@Override
		public Article find(String name) {
			if ("none".equals(name)) {
				throw new RpcException(RpcStatus.NOT_FOUND, "none of that name");
			}
			return new Article(name, new BigDecimal("12.50"), new byte[] { 1, 2 });
		}

		@Override
		public int put(Article article) {
			return article.image().length;
		}

		@Override
		public void clear() {
			// there is nothing
		}

		@Override
		public double weigh(double grams) {
			return grams;
		}

		@Override
		public Flow.Publisher<String> follow(int count) {
			SubmissionPublisher<String> publisher = new SubmissionPublisher<>(Runnable::run, 16);
			return (subscriber) -> {
				publisher.subscribe(subscriber);
				for (int i = 0; i < count; i++) {
					publisher.submit("" + i);
				}
				publisher.close();
			};
		}

	}

}
