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

import java.io.IOException;
import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.context.event.ApplicationReadyEvent;
import org.springframework.boot.devtools.restart.Restarter;
import org.springframework.context.ApplicationListener;

import dev.rdmarpc.sample.store.FeatureStore;

/**
 * The sample as a developer runs it, with DevTools: restarts as often as it is told,
 * calls its store each time, and says what the process has.
 */
public final class RestartedApplication {

	static final String REPORT = "process has ";

	private static final String STARTS = "restarted.starts";

	private RestartedApplication() {
	}

	/**
	 * Starts the application; DevTools calls this again for each restart.
	 * @param arguments how often to restart, then those of the application
	 */
	public static void main(String[] arguments) {
		SpringApplication application = new SpringApplication(SampleApplication.class);
		application.setWebApplicationType(WebApplicationType.NONE);
		ApplicationListener<ApplicationReadyEvent> listener = (event) -> started(event, Integer.parseInt(arguments[0]));
		application.addListeners(listener);
		application.run(arguments);
	}

	private static void started(ApplicationReadyEvent event, int restarts) {
		FeatureStore store = event.getApplicationContext().getBean("features.featureStore", FeatureStore.class);
		store.put("key", new float[1 << 16]);
		int length = store.get("key").orElseThrow().values().length;
		int starts = Integer.getInteger(STARTS, 0) + 1;
		System.setProperty(STARTS, String.valueOf(starts));
		System.out
			.println(REPORT + starts + " " + length + " " + directBytes() + " " + descriptors() + " " + threads());
		new Thread((starts > restarts) ? () -> System.exit(0) : () -> Restarter.getInstance().restart(), "restarts")
			.start();
	}

	private static long directBytes() {
		System.gc();
		return ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class)
			.stream()
			.filter((pool) -> pool.getName().equals("direct"))
			.mapToLong(BufferPoolMXBean::getMemoryUsed)
			.sum();
	}

	private static long descriptors() {
		try (Stream<Path> open = Files.list(Path.of("/proc/self/fd"))) {
			return open.filter(RestartedApplication::isNoFile).count();
		}
		catch (IOException ex) {
			return 0;
		}
	}

	private static boolean isNoFile(Path descriptor) {
		try {
			return Files.readSymbolicLink(descriptor).toString().matches("(socket|pipe|anon_inode):.*");
		}
		catch (IOException ex) {
			return false;
		}
	}

	private static long threads() {
		return Thread.getAllStackTraces()
			.keySet()
			.stream()
			.filter((thread) -> thread.getName().contains("rdma") || thread.getName().contains("iwarp"))
			.count();
	}

}
