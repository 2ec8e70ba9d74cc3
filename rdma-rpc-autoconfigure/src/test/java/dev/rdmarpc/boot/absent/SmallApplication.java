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

package dev.rdmarpc.boot.absent;

import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.Callable;

import org.springframework.beans.factory.annotation.BeanFactoryAnnotationUtils;
import org.springframework.boot.Banner;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

import dev.rdmarpc.boot.Greeter;
import dev.rdmarpc.boot.GreeterService;
import dev.rdmarpc.boot.ImportRdmaClients;
import dev.rdmarpc.memory.RegisteredMemory;

/**
 * Starts an application, calls itself over RDMA verbs, and closes it. Answers the names
 * of this project's beans, the greeting received as {@code greeting}, and the buffers
 * that were left as {@code outstanding}.
 */
public class SmallApplication implements Callable<Map<String, String>> {

	@Override
	public Map<String, String> call() {
		RegisteredMemory memory;
		String greeting;
		String beans;
		try (ConfigurableApplicationContext context = new SpringApplicationBuilder(Application.class)
			.web(WebApplicationType.NONE)
			.bannerMode(Banner.Mode.OFF)
			.logStartupInfo(false)
			.registerShutdownHook(false)
			.run("--rdma.rpc.server.port=0", "--rdma.rpc.server.address=127.0.0.1", "--rdma.rpc.client.default.port=0",
					"--rdma.rpc.client.default.wait-for-ready=true", "--rdma.rpc.memory.initial=1MB",
					"--rdma.rpc.memory.extent=1MB", "--rdma.rpc.memory.leak-detection=paranoid",
					"--management.endpoints.web.exposure.include=*", "--management.endpoints.jmx.exposure.include=*",
					"--spring.jmx.enabled=false", "--spring.task.execution.propagate-context=true")) {
			memory = context.getBean(RegisteredMemory.class);
			greeting = BeanFactoryAnnotationUtils
				.qualifiedBeanOfType(context.getBeanFactory(), Greeter.class, "greetings")
				.greet("world");
			beans = String.join(" ",
					Arrays.stream(context.getBeanDefinitionNames()).filter((name) -> name.startsWith("rdma")).toList());
		}
		return Map.of("greeting", greeting, "beans", beans, "outstanding",
				String.valueOf(memory.metrics().outstanding()));
	}

	/** Serves and calls. */
	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import(GreeterService.class)
	@ImportRdmaClients(target = "greetings", types = Greeter.class)
	static class Application {

	}

}
