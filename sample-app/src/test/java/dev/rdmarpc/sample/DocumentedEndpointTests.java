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

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;

import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.webmvc.test.autoconfigure.AutoConfigureMockMvc;
import org.springframework.test.web.servlet.assertj.MockMvcTester;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

import static org.assertj.core.api.Assertions.assertThat;

/** The answer of the endpoint in the guide has the form of a real one. */
@SpringBootTest(properties = { "rdma.rpc.memory.leak-detection=paranoid", "rdma.rpc.client.features.deadline=1m" })
@AutoConfigureMockMvc
class DocumentedEndpointTests {

	@Autowired
	private MockMvcTester mvc;

	@Autowired
	private JsonMapper json;

	@Test
	void guideShowsWhatTheEndpointAnswers() throws Exception {
		assertThat(this.mvc.get().uri("/features/anybody")).hasStatus(404);
		String guide = Files.readString(Path.of("..", "docs", "observability.md"));
		int begin = guide.indexOf("```json\n") + "```json\n".length();
		String documented = guide.substring(begin, guide.indexOf("\n```\n", begin));
		String answered = this.mvc.get().uri("/actuator/rdma").exchange().getResponse().getContentAsString();
		assertThat(paths(documented)).contains("/loops[]/channels[]/peer:STRING")
			.containsExactlyElementsOf(paths(answered));
	}

	private Set<String> paths(String document) {
		Set<String> paths = new TreeSet<>();
		collect("", this.json.readTree(document), paths);
		return paths;
	}

	private static void collect(String path, JsonNode node, Set<String> paths) {
		paths.add(path + ":" + node.getNodeType());
		node.properties().forEach((entry) -> collect(path + "/" + entry.getKey(), entry.getValue(), paths));
		if (node.isArray()) {
			node.forEach((element) -> collect(path + "[]", element, paths));
		}
	}

}
