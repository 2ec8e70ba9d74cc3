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

import java.io.File;
import java.lang.reflect.Constructor;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** Calls of all other forms, where there is neither Reactor nor Reactive Streams. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class RpcWithoutReactorTests {

	@Test
	void callsNeedNoReactor() throws Exception {
		List<String> absent = new ArrayList<>();
		List<URL> urls = new ArrayList<>();
		for (String entry : System.getProperty("java.class.path").split(File.pathSeparator, -1)) {
			String name = Path.of(entry).getFileName().toString();
			if (name.startsWith("reactor-") || name.startsWith("reactive-streams")) {
				absent.add(name);
			}
			else {
				urls.add(Path.of(entry).toUri().toURL());
			}
		}
		assertThat(absent).anyMatch((name) -> name.startsWith("reactor-core"));
		try (URLClassLoader loader = new URLClassLoader("without Reactor", urls.toArray(URL[]::new),
				ClassLoader.getPlatformClassLoader())) {
			for (String type : List.of("reactor.core.publisher.Mono", "org.reactivestreams.Publisher")) {
				assertThatExceptionOfType(ClassNotFoundException.class)
					.isThrownBy(() -> Class.forName(type, false, loader));
			}
			Constructor<?> calls = Class.forName(Calls.class.getName(), true, loader).getDeclaredConstructor();
			calls.setAccessible(true);
			assertThat(((Callable<?>) calls.newInstance()).call()).isEqualTo("one two [0, 1, 2]");
		}
	}

	/** Made in the class loader without Reactor. */
	static final class Calls implements Callable<String> {

		@Override
		public String call() throws Exception {
			try (RpcFixture fixture = new RpcFixture();
					RpcServer server = fixture.startServer(Feed.class, new FeedService());
					RpcClient client = fixture.newClient(server)) {
				return fixture.echo.echo("one") + " " + fixture.echo.echoAsync("two").get(20, TimeUnit.SECONDS) + " "
						+ Collector.of(client.proxy(Feed.class).count(3), Long.MAX_VALUE).complete();
			}
		}

	}

}
