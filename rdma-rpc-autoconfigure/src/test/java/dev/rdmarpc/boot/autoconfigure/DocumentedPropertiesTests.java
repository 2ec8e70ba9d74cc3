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

import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.RecordComponent;
import java.net.URL;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;

import org.junit.jupiter.api.Test;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.MapConfigurationPropertySource;
import org.springframework.boot.convert.ApplicationConversionService;
import org.springframework.boot.json.JsonParserFactory;
import org.springframework.util.ClassUtils;

import dev.rdmarpc.boot.retry.RetrySettings;

import static org.assertj.core.api.Assertions.assertThat;

/** The table of properties and their metadata say the same. */
class DocumentedPropertiesTests {

	private static final Path GUIDE = Documentation.ROOT.resolve("docs/configuration.md");

	private static final String ENTRY = "rdma.rpc.client.default.";

	@Test
	void everyPropertyIsInTheGuideAsInTheMetadata() throws Exception {
		List<List<String>> expected = new ArrayList<>();
		for (Map<String, Object> property : metadata().values()) {
			if (!property.get("name").equals("rdma.rpc.client")) {
				expected.add(row(property));
			}
		}
		assertThat(Documentation.rows(GUIDE, "## Properties")).as("the table of properties in docs/configuration.md")
			.containsExactlyInAnyOrderElementsOf(expected);
	}

	@Test
	void everyPropertyIsDescribed() throws Exception {
		assertThat(metadata().values()).hasSizeGreaterThan(50)
			.allSatisfy((property) -> assertThat((String) property.get("description")).matches("(?s)[A-Z].*\\."));
	}

	@Test
	void metadataOfClientsIsThatOfTheirRecord() throws Exception {
		Map<String, Map<String, Object>> metadata = metadata();
		Map<String, Object> defaults = new HashMap<>();
		collectDefaults(metadata, ENTRY, RdmaRpcProperties.Client.class, defaults);
		assertThat(metadata.keySet()).filteredOn((name) -> name.startsWith(ENTRY))
			.containsExactlyInAnyOrderElementsOf(defaults.keySet());
		defaults.values().removeIf(Objects::isNull);
		assertThat(ClientSettings.of("any", bind(defaults))).isEqualTo(ClientSettings.of("any", bind(Map.of())));
		assertThat(ClientAddresses.of("any", bind(defaults))).isEqualTo(ClientAddresses.of("any", bind(Map.of())));
		assertThat(new ClientRetries("any", bind(defaults)).settings()).isEqualTo(RetrySettings.DEFAULTS);
		assertThat(new ClientRetries("any", bind(defaults)).budget())
			.isEqualTo(new ClientRetries("any", bind(Map.of())).budget());
		assertThat(new ClientMethodSettings("any", bind(defaults)).budget())
			.isEqualTo(new ClientMethodSettings("any", bind(Map.of())).budget());
		assertThat(new ClientMethodSettings("any", bind(delayed(defaults))).hedging())
			.isEqualTo(new ClientMethodSettings("any", bind(delayed(Map.of()))).hedging());
	}

	/** Has calls made twice, so that it shows after what time. */
	private static Map<String, Object> delayed(Map<String, Object> values) {
		Map<String, Object> more = new HashMap<>(values);
		more.put(ENTRY + "hedging.max-attempts", 2);
		return more;
	}

	private static void collectDefaults(Map<String, Map<String, Object>> metadata, String prefix, Class<?> type,
			Map<String, Object> defaults) {
		for (RecordComponent component : type.getRecordComponents()) {
			String name = prefix + component.getName().replaceAll("([A-Z])", "-$1").toLowerCase(Locale.ROOT);
			if (component.getType().isRecord()) {
				collectDefaults(metadata, name + ".", component.getType(), defaults);
				continue;
			}
			assertThat(metadata).containsKey(name);
			assertThat(metadata.get(name).get("type")).as(name)
				.isIn(component.getType().getName(), component.getGenericType().getTypeName());
			defaults.put(name, metadata.get(name).get("defaultValue"));
		}
	}

	private static RdmaRpcProperties bind(Map<String, Object> values) {
		return new Binder(List.of(new MapConfigurationPropertySource(values)), null,
				ApplicationConversionService.getSharedInstance())
			.bindOrCreate("rdma.rpc", Bindable.of(RdmaRpcProperties.class));
	}

	private static List<String> row(Map<String, Object> property) throws ClassNotFoundException {
		String name = ((String) property.get("name")).replace(ENTRY, "rdma.rpc.client.<target>.");
		Object value = property.get("defaultValue");
		String fallback = (value == null || value.equals("")) ? "–" : "`" + value + "`";
		return List.of("`" + name + "`", form((String) property.get("type")), fallback,
				(String) property.get("description"));
	}

	private static String form(String typeName) throws ClassNotFoundException {
		if (typeName.equals("java.util.List<java.lang.String>")) {
			return "list of texts";
		}
		if (typeName.startsWith("java.util.Map<java.lang.String,java.lang.String>")) {
			return "texts by names";
		}
		Class<?> type = ClassUtils.forName(typeName.replaceAll("<.*", ""), null);
		if (type.isEnum()) {
			return String.join(", ",
					Arrays.stream(type.getEnumConstants())
						.map((constant) -> "`" + constant.toString().toLowerCase(Locale.ROOT).replace('_', '-') + "`")
						.toList());
		}
		return switch (type.getSimpleName()) {
			case "Integer", "Double" -> "number";
			case "Set" -> "list";
			case "Map" -> "map";
			case "Boolean" -> "`true`, `false`";
			case "String" -> "text";
			case "Duration" -> "duration";
			case "DataSize" -> "size";
			case "InetAddress" -> "address";
			case "Path" -> "path";
			default -> throw new IllegalArgumentException(typeName);
		};
	}

	/** The metadata of this module by the names of the properties. */
	@SuppressWarnings("unchecked")
	private static Map<String, Map<String, Object>> metadata() throws IOException {
		Map<String, Map<String, Object>> found = new LinkedHashMap<>();
		for (URL url : Collections.list(DocumentedPropertiesTests.class.getClassLoader()
			.getResources("META-INF/spring-configuration-metadata.json"))) {
			try (InputStream content = url.openStream()) {
				String json = new String(content.readAllBytes(), java.nio.charset.StandardCharsets.UTF_8);
				List<Object> properties = (List<Object>) JsonParserFactory.getJsonParser()
					.parseMap(json)
					.get("properties");
				for (Object property : properties) {
					String name = (String) ((Map<String, Object>) property).get("name");
					if (name.startsWith("rdma.") || name.contains(".rdma.")) {
						found.put(name, (Map<String, Object>) property);
					}
				}
			}
		}
		return found;
	}

}
