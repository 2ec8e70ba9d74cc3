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

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ApplicationContext;

import dev.rdmarpc.boot.RdmaClients;
import dev.rdmarpc.boot.RdmaService;

import static org.assertj.core.api.Assertions.assertThat;

/** Methods of services that have a body, which runs where the client is. */
@ExtendWith(OutputCaptureExtension.class)
class MethodsWithABodyTests {

	private final ApplicationContextRunner runner = RdmaContextRunner.create();

	@Test
	void handlerOfAMethodWithABodyIsWarnedOf(CapturedOutput output) {
		this.runner.withUserConfiguration(OverriddenDefault.class).run((context) -> {
			assertThat(client(context, Polite.class).greet()).isEqualTo("Hello server");
			assertThat(output)
				.containsOnlyOnce(OverriddenDefault.class.getName() + " overrides " + Polite.class.getName()
						+ ".greet, which is no call: it has a body, which runs where the client is")
				.doesNotContain("Polite.part");
		});
	}

	private static <T> T client(ApplicationContext context, Class<T> type) {
		return context.getBean(RdmaClients.class).proxy("any", type);
	}

	/** Overrides one of them. */
	@RdmaService
	static class OverriddenDefault implements Polite {

		@Override
		public String name() {
			return "server";
		}

		@Override
		public String greet() {
			return "Never " + name();
		}

	}

	/** With methods that are no calls. */
	public interface Polite {

		String name();

		default String greet() {
			return "Hello " + name();
		}

		default String part() {
			return "Bye " + name();
		}

	}

}
