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

package dev.rdmarpc.boot.connection;

import java.util.function.BiConsumer;

import dev.rdmarpc.boot.GreeterService;
import dev.rdmarpc.boot.autoconfigure.RdmaContextRunner;
import dev.rdmarpc.rpc.RpcServer;

import static org.assertj.core.api.Assertions.assertThat;

/** Two applications that serve, for tests that say where they are. */
final class RunningServers {

	private RunningServers() {
	}

	/** Runs a test with the ports of both servers, which greet by different names. */
	static void run(BiConsumer<Integer, Integer> test) {
		RdmaContextRunner.create()
			.withBean(GreeterService.class, () -> new Named("one"))
			.run((one) -> RdmaContextRunner.create()
				.withBean(GreeterService.class, () -> new Named("two"))
				.run((two) -> {
					assertThat(one).hasNotFailed();
					assertThat(two).hasNotFailed();
					test.accept(one.getBean(RpcServer.class).address().getPort(),
							two.getBean(RpcServer.class).address().getPort());
				}));
	}

	/** Says which server has been called. */
	private static final class Named extends GreeterService {

		private final String name;

		Named(String name) {
			this.name = name;
		}

		@Override
		public String greet(String who) {
			return this.name;
		}

	}

}
