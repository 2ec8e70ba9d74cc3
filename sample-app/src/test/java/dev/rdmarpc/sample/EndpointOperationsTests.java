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

import java.time.Duration;

import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.webmvc.test.autoconfigure.AutoConfigureMockMvc;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.test.web.servlet.assertj.MockMvcTester;
import org.springframework.test.web.servlet.assertj.MvcTestResult;

import dev.rdmarpc.boot.RdmaServerControl;
import dev.rdmarpc.rpc.RpcServer;
import dev.rdmarpc.sample.store.FeatureStore;

import static org.assertj.core.api.Assertions.assertThat;

/** The endpoint over HTTP, where operators may change things. */
@SpringBootTest(properties = { "rdma.rpc.memory.leak-detection=paranoid", "rdma.rpc.client.features.deadline=1m",
		"management.endpoint.rdma.access=unrestricted" })
@AutoConfigureMockMvc
class EndpointOperationsTests {

	private static final String SERVER = "/actuator/rdma/server";

	@Autowired
	private MockMvcTester mvc;

	@Autowired
	private RpcServer server;

	@Autowired
	private RdmaServerControl control;

	@Test
	void partsAreResources() {
		assertThat(this.mvc.get().uri("/features/anybody")).hasStatus(HttpStatus.NOT_FOUND);
		for (String part : new String[] { "devices", "memory", "queue-pairs", "server", "services", "clients" }) {
			assertThat(this.mvc.get().uri("/actuator/rdma/" + part)).as(part).hasStatusOk();
		}
		assertThat(this.mvc.get().uri("/actuator/rdma/keys")).hasStatus(HttpStatus.NOT_FOUND);
		assertThat(this.mvc.get().uri("/actuator/rdma/services/" + FeatureStore.class.getName())).hasStatusOk()
			.bodyJson()
			.extractingPath("schema")
			.asString()
			.contains("table FeatureVector {", "rpc_service dev_rdmarpc_sample_store_FeatureStore {");
		assertThat(this.mvc.get().uri("/actuator/rdma/clients/features")).hasStatusOk()
			.bodyJson()
			.extractingPath("deadline")
			.isEqualTo("PT1M");
	}

	@Test
	void deadlineIsChangedAndBadOnesAreRefused() {
		assertThat(this.mvc.get().uri("/features/anybody")).hasStatus(HttpStatus.NOT_FOUND);
		assertThat(post("/actuator/rdma/clients/features", "{\"deadline\":\"3s\"}")).hasStatusOk()
			.bodyJson()
			.extractingPath("deadline")
			.isEqualTo("PT3S");
		MvcTestResult refused = post("/actuator/rdma/clients/features", "{\"deadline\":\"-3s\"}");
		assertThat(refused).hasStatus(HttpStatus.BAD_REQUEST);
		assertThat(refused.getResponse().getErrorMessage()).isEqualTo("deadline -3s (expected: not negative)");
		assertThat(post("/actuator/rdma/clients/features", "{}")).hasStatus(HttpStatus.BAD_REQUEST);
		assertThat(this.mvc.get().uri("/actuator/rdma/clients/features")).bodyJson()
			.extractingPath("deadline")
			.isEqualTo("PT3S");
		assertThat(post("/actuator/rdma/clients/features", "{\"deadline\":\"1m\"}")).hasStatusOk();
	}

	@Test
	void limitIsChangedAndBadOnesAreRefused() {
		assertThat(post(SERVER, "{\"maxConcurrentCalls\":99}")).hasStatusOk()
			.bodyJson()
			.extractingPath("maxConcurrentCalls")
			.isEqualTo(99);
		assertThat(post(SERVER, "{\"maxConcurrentCalls\":0}")).hasStatus(HttpStatus.BAD_REQUEST);
		assertThat(post(SERVER, "{\"maxConcurrentCalls\":\"many\"}")).hasStatus(HttpStatus.BAD_REQUEST);
		assertThat(this.server.options().maxConcurrentCalls()).isEqualTo(99);
		assertThat(post(SERVER, "{\"maxConcurrentCalls\":1024}")).hasStatusOk();
	}

	@Test
	void serverIsTakenOutOfServiceAndHealthFollows() {
		assertThat(post(SERVER, "{\"draining\":true}")).hasStatusOk();
		long deadline = System.nanoTime() + Duration.ofSeconds(30).toNanos();
		while (this.control.state() != RdmaServerControl.State.STOPPED) {
			assertThat(System.nanoTime() - deadline).isNegative();
			Thread.onSpinWait();
		}
		assertThat(this.mvc.get().uri(SERVER)).bodyJson().extractingPath("state").isEqualTo("STOPPED");
		assertThat(this.mvc.get().uri("/actuator/health")).hasStatus(HttpStatus.SERVICE_UNAVAILABLE);
		assertThat(this.mvc.get().uri("/actuator/health/readiness")).hasStatus(HttpStatus.SERVICE_UNAVAILABLE);
		assertThat(this.mvc.get().uri("/actuator/health/liveness")).hasStatusOk();
		assertThat(post(SERVER, "{\"draining\":false}")).hasStatusOk()
			.bodyJson()
			.extractingPath("state")
			.isEqualTo("RUNNING");
		assertThat(this.mvc.get().uri("/actuator/health/readiness")).hasStatusOk();
	}

	private MvcTestResult post(String uri, String body) {
		return this.mvc.post().uri(uri).contentType(MediaType.APPLICATION_JSON).content(body).exchange();
	}

}
