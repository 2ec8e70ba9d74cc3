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

package dev.rdmarpc.rpc;

import java.time.Duration;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import dev.rdmarpc.Await;
import dev.rdmarpc.flatbuffers.FlatBuffersCodec;

import static org.assertj.core.api.Assertions.assertThat;

/** The settings of single methods. */
@Timeout(60)
class MethodSettingsTests {

	private final MethodSettings settings = new MethodSettings(
			(method) -> new MethodOptions(Duration.ofSeconds(method.name().length()), null));

	private static ServiceDescriptor service() {
		return ServiceDescriptor.of(Echo.class, new FlatBuffersCodec());
	}

	@Test
	void areForgottenWithTheProxiesOfTheirMethods() {
		ServiceDescriptor kept = service();
		this.settings.add(kept);
		addOthers();
		assertThat(this.settings.methods()).hasSizeGreaterThan(kept.methods().size());
		Await.until(() -> {
			System.gc();
			return this.settings.methods().size() == kept.methods().size();
		});
		expectAllOf(kept);
		this.settings.refresh();
		expectAllOf(kept);
	}

	private void addOthers() {
		for (int i = 0; i < 10; i++) {
			this.settings.add(service());
		}
	}

	private void expectAllOf(ServiceDescriptor service) {
		assertThat(service.methods()).isNotEmpty().allSatisfy((method) -> {
			MethodSettings.Settings own = this.settings.of(method);
			assertThat(own).isNotNull();
			assertThat(own.deadline()).isEqualTo(Duration.ofSeconds(method.name().length()));
		});
	}

}
