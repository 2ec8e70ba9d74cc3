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

package dev.rdmarpc.boot.standalone;

import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

import dev.rdmarpc.boot.GreeterService;

/**
 * An application with an RDMA server and nothing else that would keep it alive. Says when
 * its main method has returned, and closes its context at the end of its input.
 */
@Configuration(proxyBeanMethods = false)
@EnableAutoConfiguration
@Import(GreeterService.class)
public class StandaloneApplication {

	static final String MAIN_ENDED = "main ended; port ";

	static final String ASKED_TO_STOP = "asked to stop";

	public static void main(String[] args) {
		Thread main = Thread.currentThread();
		ConfigurableApplicationContext context = SpringApplication.run(StandaloneApplication.class, args);
		String port = context.getEnvironment().getProperty("local.rdma.port");
		Thread watcher = new Thread(() -> {
			try {
				main.join();
				System.out.println(MAIN_ENDED + port);
				System.in.transferTo(OutputStream.nullOutputStream());
				System.out.println(ASKED_TO_STOP);
				context.close();
			}
			catch (IOException ex) {
				throw new UncheckedIOException(ex);
			}
			catch (InterruptedException ex) {
				Thread.currentThread().interrupt();
			}
		}, "watcher");
		watcher.setDaemon(true);
		watcher.start();
	}

}
