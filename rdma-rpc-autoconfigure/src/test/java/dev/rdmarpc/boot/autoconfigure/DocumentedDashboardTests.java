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

package dev.rdmarpc.boot.autoconfigure;

import java.nio.file.Files;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.binder.MeterBinder;
import io.micrometer.core.instrument.config.MeterFilter;
import io.micrometer.core.instrument.distribution.DistributionStatisticConfig;
import io.micrometer.core.instrument.observation.DefaultMeterObservationHandler;
import io.micrometer.observation.ObservationRegistry;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import org.junit.jupiter.api.Test;
import org.yaml.snakeyaml.Yaml;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

import dev.rdmarpc.boot.Greeter;
import dev.rdmarpc.boot.GreeterService;
import dev.rdmarpc.boot.RdmaClients;
import dev.rdmarpc.boot.observation.RdmaCallMeterDescriptions;
import dev.rdmarpc.rpc.RpcException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * What dashboard and alerts ask Prometheus for is what an application with calls lets it
 * scrape.
 */
class DocumentedDashboardTests {

	private static final Pattern METRIC = Pattern.compile("\\brdma_[a-z0-9_]+");

	private static final Pattern SELECTOR = Pattern.compile("\\b(rdma_[a-z0-9_]+)\\{([^}]*)\\}");

	private static final Pattern MATCHER = Pattern.compile("(\\w+)\\s*(?:=~|!~|!=|=)\\s*\"");

	private static final Pattern GROUPING = Pattern.compile("\\b(?:by|on|ignoring|without)\\s*\\(([^)]*)\\)");

	private static final Pattern SAMPLE = Pattern.compile("(rdma_[a-z0-9_]+)(?:\\{(.*)\\})? \\S+");

	private static final Pattern LABEL = Pattern.compile("(\\w+)=\"");

	private static final Pattern SHOWN = Pattern.compile("\\{\\{\\s*(?:\\$labels\\.)?(\\w+)\\s*\\}\\}");

	/** Those that Prometheus adds. */
	private static final Set<String> ADDED = Set.of("job", "instance");

	@Test
	void dashboardShowsMetersThatExist() throws Exception {
		JsonNode dashboard = JsonMapper.shared()
			.readTree(Files.readString(Documentation.ROOT.resolve("docs/grafana-dashboard.json")));
		Map<String, Set<String>> scraped = scrape();
		Set<Integer> ids = new HashSet<>();
		Set<String> metrics = new TreeSet<>();
		for (JsonNode panel : dashboard.get("panels")) {
			String title = panel.get("title").asString();
			assertThat(ids.add(panel.get("id").asInt())).as("the id of %s is its own", title).isTrue();
			if (panel.get("type").asString().equals("row")) {
				continue;
			}
			assertThat(panel.get("targets")).as(title).isNotEmpty();
			for (JsonNode target : panel.get("targets")) {
				metrics.addAll(
						check(title, target.get("expr").asString(), target.get("legendFormat").asString(), scraped));
			}
		}
		assertThat(metrics).hasSizeGreaterThan(30);
		for (JsonNode variable : dashboard.get("templating").get("list")) {
			if (variable.has("definition")) {
				Matcher values = Pattern.compile("label_values\\((\\w+|\\{__name__=~\"([^\"]+)\"\\}), (\\w+)\\)")
					.matcher(variable.get("definition").asString());
				assertThat(values.matches()).isTrue();
				String name = (values.group(2) != null) ? values.group(2) : values.group(1);
				List<String> named = scraped.keySet().stream().filter((key) -> key.matches(name)).toList();
				assertThat(named).as(values.group())
					.isNotEmpty()
					.allMatch((key) -> ADDED.contains(values.group(3)) || scraped.get(key).contains(values.group(3)));
			}
		}
	}

	@Test
	@SuppressWarnings("unchecked")
	void alertsWatchMetersThatExist() throws Exception {
		Map<String, Object> file = new Yaml()
			.load(Files.readString(Documentation.ROOT.resolve("docs/prometheus-alerts.yml")));
		Map<String, Set<String>> scraped = scrape();
		Set<String> names = new HashSet<>();
		for (Map<String, Object> group : (List<Map<String, Object>>) file.get("groups")) {
			for (Map<String, Object> rule : (List<Map<String, Object>>) group.get("rules")) {
				String name = (String) rule.get("alert");
				assertThat(names.add(name)).as("the name %s is its own", name).isTrue();
				assertThat((String) rule.get("for")).as(name).matches("\\d+m");
				assertThat(((Map<String, String>) rule.get("labels")).get("severity")).isIn("warning", "critical");
				Map<String, String> annotations = (Map<String, String>) rule.get("annotations");
				assertThat(annotations.get("description")).as(name).endsWith(".");
				check(name, (String) rule.get("expr"), annotations.get("summary"), scraped);
			}
		}
		assertThat(names).hasSizeGreaterThan(8);
	}

	/** Checks the names and labels of an expression, and the labels that are shown. */
	private static Set<String> check(String where, String expression, String shown, Map<String, Set<String>> scraped) {
		assertThat(expression.chars().filter((c) -> c == '(').count()).as("%s: %s", where, expression)
			.isEqualTo(expression.chars().filter((c) -> c == ')').count());
		Set<String> metrics = new TreeSet<>();
		Set<String> labels = new HashSet<>(ADDED);
		METRIC.matcher(expression).results().forEach((found) -> metrics.add(found.group()));
		assertThat(metrics).as("%s: %s", where, expression).isNotEmpty().isSubsetOf(scraped.keySet());
		metrics.forEach((metric) -> labels.addAll(scraped.get(metric)));
		SELECTOR.matcher(expression).results().forEach((selector) -> {
			Set<String> own = new HashSet<>(scraped.get(selector.group(1)));
			own.addAll(ADDED);
			MATCHER.matcher(selector.group(2))
				.results()
				.forEach((matcher) -> assertThat(matcher.group(1)).as("%s: %s", where, selector.group()).isIn(own));
		});
		Set<String> grouped = new HashSet<>();
		GROUPING.matcher(expression)
			.results()
			.forEach((found) -> grouped.addAll(List.of(found.group(1).split("\\s*,\\s*"))));
		assertThat(grouped).as("%s: %s", where, expression).isSubsetOf(labels);
		Set<String> remaining = (grouped.isEmpty() && !expression.contains("sum(")) ? labels : grouped;
		SHOWN.matcher(shown)
			.results()
			.forEach((found) -> assertThat(found.group(1)).as("%s: %s", where, shown).isIn(remaining));
		return metrics;
	}

	@Test
	void everyMeterIsScrapedWithItsMeaning() {
		List<String> help = scrapeText().lines().filter((line) -> line.startsWith("# HELP rdma_")).toList();
		assertThat(help).hasSizeGreaterThan(50).allSatisfy((line) -> assertThat(line).endsWith("."));
		assertThat(help)
			.anySatisfy((line) -> assertThat(line).startsWith("# HELP rdma_rpc_client_calls_seconds Calls that"));
		assertThat(help)
			.anySatisfy((line) -> assertThat(line).startsWith("# HELP rdma_rpc_server_calls_seconds Calls that"));
	}

	/** The labels of what is scraped, by name. */
	private static Map<String, Set<String>> scrape() {
		Map<String, Set<String>> found = new HashMap<>();
		scrapeText().lines().forEach((line) -> {
			Matcher sample = SAMPLE.matcher(line);
			if (sample.matches()) {
				Set<String> labels = found.computeIfAbsent(sample.group(1), (name) -> new HashSet<>());
				if (sample.group(2) != null) {
					LABEL.matcher(sample.group(2)).results().forEach((label) -> labels.add(label.group(1)));
				}
			}
		});
		return found;
	}

	private static String scrapeText() {
		List<String> text = new ArrayList<>();
		PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
		ObservationRegistry observations = ObservationRegistry.create();
		observations.observationConfig().observationHandler(new DefaultMeterObservationHandler(registry));
		RdmaContextRunner.create()
			.withUserConfiguration(GreeterService.class)
			.withBean(PrometheusMeterRegistry.class, () -> registry)
			.withBean(ObservationRegistry.class, () -> observations)
			.run((context) -> {
				registry.config().meterFilter(new Histograms());
				registry.config().meterFilter(context.getBean(RdmaCallMeterDescriptions.class));
				context.getBeansOfType(MeterBinder.class).values().forEach((binder) -> binder.bindTo(registry));
				Greeter greeter = context.getBean(RdmaClients.class).proxy("greetings", Greeter.class);
				greeter.greet("world");
				assertThatExceptionOfType(RpcException.class).isThrownBy(() -> greeter.fail("no such thing"));
				text.add(registry.scrape());
			});
		return text.get(0);
	}

	/** What the property for histograms does. */
	private static final class Histograms implements MeterFilter {

		@Override
		public DistributionStatisticConfig configure(Meter.Id id, DistributionStatisticConfig config) {
			return id.getName().startsWith("rdma.rpc") ? DistributionStatisticConfig.builder()
				.percentilesHistogram(true)
				.minimumExpectedValue((double) Duration.ofNanos(1000).toNanos())
				.build()
				.merge(config) : config;
		}

	}

}
