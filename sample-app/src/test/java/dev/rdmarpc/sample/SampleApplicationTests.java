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

import java.util.concurrent.ThreadLocalRandom;

import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.webmvc.test.autoconfigure.AutoConfigureMockMvc;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.test.web.servlet.assertj.MockMvcTester;
import org.springframework.test.web.servlet.assertj.MvcTestResult;

import dev.rdmarpc.boot.test.LocalRdmaPort;
import dev.rdmarpc.boot.test.faults.AutoConfigureRdmaFaults;
import dev.rdmarpc.boot.test.faults.RdmaFaults;

import static org.assertj.core.api.Assertions.assertThat;

/** The whole application in one process: HTTP in, RDMA verbs between façade and store. */
@SpringBootTest(properties = { "rdma.rpc.memory.leak-detection=paranoid", "rdma.rpc.client.features.deadline=1m" })
@AutoConfigureMockMvc
@AutoConfigureRdmaFaults
class SampleApplicationTests {

	@Autowired
	private MockMvcTester mvc;

	@Autowired
	private RdmaFaults faults;

	@LocalRdmaPort
	private int port;

	@Test
	void servesOnAPortOfItsOwn() {
		assertThat(this.port).isPositive().isNotEqualTo(7471);
	}

	@Test
	void putsAndGetsFeatures() {
		assertThat(this.mvc.put().uri("/features/alice").contentType(MediaType.APPLICATION_JSON).content("[1.5,2.5]"))
			.hasStatusOk()
			.bodyJson()
			.extractingPath("version")
			.isEqualTo(1);
		assertThat(this.mvc.get().uri("/features/alice")).hasStatusOk()
			.bodyJson()
			.extractingPath("values[1]")
			.isEqualTo(2.5);
		assertThat(this.mvc.get().uri("/features/nobody")).hasStatus(HttpStatus.NOT_FOUND);
		assertThat(this.mvc.get().uri("/features/alice/async").exchange()).hasStatusOk()
			.bodyJson()
			.extractingPath("key")
			.isEqualTo("alice");
	}

	@Test
	void onlyGetsOutliveTheirConnection() {
		assertThat(putBob()).hasStatusOk();
		this.faults.cutAfter("features", 0);
		assertThat(this.mvc.get().uri("/features/bob")).hasStatusOk();
		assertThat(this.faults.cuts("features")).isOne();
		this.faults.cutAfter("features", 0);
		assertThat(putBob()).hasStatus(HttpStatus.SERVICE_UNAVAILABLE);
		assertThat(putBob()).hasStatusOk().bodyJson().extractingPath("version").isEqualTo(3);
	}

	private MvcTestResult putBob() {
		return this.mvc.put().uri("/features/bob").contentType(MediaType.APPLICATION_JSON).content("[1.5]").exchange();
	}

	@Test
	void getsSeveralAndScans() {
		for (int i = 0; i < 5; i++) {
			assertThat(this.mvc.put().uri("/features/page-" + i).contentType(MediaType.APPLICATION_JSON).content("[1]"))
				.hasStatusOk();
		}
		assertThat(this.mvc.post()
			.uri("/features/multi-get")
			.contentType(MediaType.APPLICATION_JSON)
			.content("[\"page-1\",\"page-9\",\"page-3\"]")).hasStatusOk()
			.bodyJson()
			.extractingPath("[*].key")
			.asArray()
			.containsExactly("page-1", "page-3");
		assertThat(this.mvc.get().uri("/features?prefix=page-&limit=2")).hasStatusOk()
			.bodyJson()
			.extractingPath("next")
			.isEqualTo("page-1");
		assertThat(this.mvc.get().uri("/features?prefix=page-&after=page-1&limit=10")).hasStatusOk()
			.bodyJson()
			.extractingPath("vectors[*].key")
			.asArray()
			.containsExactly("page-2", "page-3", "page-4");
	}

	@Test
	void carriesLargeValues() {
		byte[] blob = new byte[3 << 20];
		ThreadLocalRandom.current().nextBytes(blob);
		assertThat(this.mvc.put()
			.uri("/features/model/blob")
			.contentType(MediaType.APPLICATION_OCTET_STREAM)
			.content(blob)).hasStatus(HttpStatus.NO_CONTENT);
		assertThat(this.mvc.get().uri("/features/model/blob").exchange().getResponse().getContentAsByteArray())
			.isEqualTo(blob);
		assertThat(this.mvc.get().uri("/actuator/metrics/store.large.bytes")).hasStatusOk()
			.bodyJson()
			.extractingPath("measurements[0].value")
			.asNumber()
			.satisfies((bytes) -> assertThat(bytes.intValue()).isEqualTo(blob.length));
	}

	@Test
	void tellsWhatWasWrong() {
		assertThat(this.mvc.get().uri("/features?limit=0")).hasStatus(HttpStatus.BAD_REQUEST)
			.bodyJson()
			.extractingPath("detail")
			.isEqualTo("limit 0 (expected: 1 to 1000)");
	}

	@Test
	void showsItselfInActuator() {
		assertThat(this.mvc.get().uri("/features/anybody")).hasStatus(HttpStatus.NOT_FOUND);
		assertThat(this.mvc.get().uri("/actuator/rdma")).hasStatusOk()
			.bodyJson()
			.extractingPath("provider.name")
			.isEqualTo("iwarp");
		assertThat(this.mvc.get().uri("/actuator/rdma")).bodyJson()
			.extractingPath("provider.candidates[0].name")
			.isEqualTo("disni");
		assertThat(this.mvc.get().uri("/actuator/metrics/rdma.rpc.client.calls?tag=method:get")).hasStatusOk()
			.bodyJson()
			.extractingPath("measurements[0].value")
			.asNumber()
			.satisfies((count) -> assertThat(count.doubleValue()).isPositive());
		assertThat(this.mvc.get().uri("/actuator/health")).hasStatusOk()
			.bodyJson()
			.extractingPath("components.rdma.status")
			.isEqualTo("UP");
		assertThat(this.mvc.get().uri("/index.html")).hasStatusOk();
	}

}
