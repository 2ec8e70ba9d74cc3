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

import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.locks.LockSupport;

import picocli.CommandLine.Command;
import picocli.CommandLine.Help.Visibility;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import tools.jackson.core.JacksonException;

/** Shows what an application does, by its Actuator. */
@Command(name = "top", sortOptions = false,
		description = "Shows, line by line, what a Spring application does with rdma-rpc: its endpoint 'rdma' has to "
				+ "be exposed over HTTP.")
final class TopCommand implements Callable<Integer> {

	private static final int HEADER_EVERY = 20;

	private static final int MAX_BODY_BYTES = 16 << 20;

	@Spec
	@SuppressWarnings("NullAway.Init") // set by picocli before the command is called
	private CommandSpec spec;

	@Parameters(index = "0", paramLabel = "URL",
			description = "The endpoint, such as http://localhost:8080/actuator/rdma; the path may be left out.")
	private String url = "";

	@Option(names = { "-i", "--interval" }, paramLabel = "SECONDS", description = "Between two lines.",
			defaultValue = "2", showDefaultValue = Visibility.ALWAYS)
	private double seconds;

	@Option(names = { "-n", "--count" }, description = "End after so many lines; 0 for never.", defaultValue = "0",
			showDefaultValue = Visibility.ALWAYS)
	private long count;

	@Option(names = { "-H", "--header" }, paramLabel = "NAME:VALUE",
			description = "A header of the request, such as 'Authorization: Bearer ...'.")
	private List<String> headers = List.of();

	@Mixin
	@SuppressWarnings("UnusedVariable") // picocli looks at it
	private Help help = new Help();

	@Override
	public Integer call() throws IOException, InterruptedException {
		if (!(this.seconds >= 0.01 && this.seconds < 1e6)) {
			throw new IllegalArgumentException("interval of " + this.seconds + " (expected: seconds, at least 0.01)");
		}
		if (this.count < 0) {
			throw new IllegalArgumentException("count of " + this.count + " (expected: lines, 0 for ever)");
		}
		HttpRequest request = request();
		PrintWriter out = this.spec.commandLine().getOut();
		HttpClient http = HttpClient.newBuilder().connectTimeout(Duration.ofSeconds(10)).build();
		ActuatorSample last = ask(http, request);
		long interval = (long) (this.seconds * 1e9);
		for (long i = 0; this.count == 0 || i < this.count; i++) {
			if (i % HEADER_EVERY == 0) {
				out.println(ActuatorSample.HEADER);
			}
			pause(interval);
			ActuatorSample sample = ask(http, request);
			out.println(sample.lineSince(last));
			if (out.checkError()) {
				return 0; // nobody reads any more
			}
			last = sample;
		}
		return 0;
	}

	private static void pause(long nanos) throws InterruptedException {
		long end = System.nanoTime() + nanos;
		while (end - System.nanoTime() > 0) {
			LockSupport.parkNanos(end - System.nanoTime());
			if (Thread.interrupted()) {
				throw new InterruptedException("interrupted");
			}
		}
	}

	private HttpRequest request() {
		URI asked = URI.create(this.url.contains("://") ? this.url : "http://" + this.url);
		if (asked.getPath() == null || asked.getPath().isEmpty() || asked.getPath().equals("/")) {
			asked = asked.resolve("/actuator/rdma");
		}
		HttpRequest.Builder builder = HttpRequest.newBuilder(asked)
			.timeout(Duration.ofSeconds(10))
			.header("Accept", "application/json");
		for (String header : this.headers) {
			int colon = header.indexOf(':');
			if (colon < 1) {
				throw new IllegalArgumentException("header '" + header + "' (expected: NAME:VALUE)");
			}
			builder.header(header.substring(0, colon).strip(), header.substring(colon + 1).strip());
		}
		return builder.build();
	}

	private static ActuatorSample ask(HttpClient http, HttpRequest request) throws IOException, InterruptedException {
		HttpResponse<InputStream> response;
		try {
			response = http.send(request, HttpResponse.BodyHandlers.ofInputStream());
		}
		catch (IOException ex) {
			String reason = (ex.getMessage() != null) ? ex.getMessage() : ex.getClass().getSimpleName();
			throw new IOException(request.uri() + " cannot be reached: " + reason, ex);
		}
		try (InputStream body = response.body()) {
			if (response.statusCode() != 200) {
				throw new IOException(request.uri() + " answers with status " + response.statusCode()
						+ " (expected: 200" + ((response.statusCode() == 404)
								? "; is it in management.endpoints.web.exposure.include?)" : ")"));
			}
			byte[] bytes = body.readNBytes(MAX_BODY_BYTES);
			if (Json.read(new String(bytes, StandardCharsets.UTF_8)) instanceof Map<?, ?> said
					&& ActuatorSample.isEndpoint(said)) {
				return new ActuatorSample(System.nanoTime(), said);
			}
		}
		catch (JacksonException ex) {
			throw new IOException(request.uri() + " answers with no JSON: " + ex.getOriginalMessage(), ex);
		}
		throw new IOException(request.uri() + " answers with JSON of something else (expected: the endpoint rdma)");
	}

}
