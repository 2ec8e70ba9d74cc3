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

package dev.rdmarpc.boot.test.shop;

import java.util.List;

import org.junit.jupiter.api.Test;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.core.io.support.SpringFactoriesLoader;
import org.springframework.test.context.ContextCustomizerFactory;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;

import dev.rdmarpc.boot.test.LocalRdmaPort;

import static org.assertj.core.api.Assertions.assertThat;

/** The test has chosen the port while it starts. */
@SpringBootTest(webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT,
		properties = "rdma.rpc.client.prices.port=0")
class DynamicPortTests {

	@LocalRdmaPort
	private int port;

	@DynamicPropertySource
	static void choosePort(DynamicPropertyRegistry registry) {
		registry.add("rdma.rpc.server.port", () -> 17472);
	}

	@Test
	void theServerHasThatPort() {
		assertThat(this.port).isEqualTo(17472);
	}

	@Test
	void itDoesNotDependOnTheOrderOfTheClassPath() {
		List<ContextCustomizerFactory> factories = SpringFactoriesLoader.forDefaultResourceLocation()
			.load(ContextCustomizerFactory.class);
		assertThat(factories.get(0).getClass().getSimpleName()).isEqualTo("RandomPortContextCustomizerFactory");
	}

}
