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

import java.util.concurrent.Executor;

import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.task.TaskExecutionAutoConfiguration;
import org.springframework.boot.thread.Threading;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.core.env.Environment;

import dev.rdmarpc.rpc.HandlerOptions;
import dev.rdmarpc.rpc.HandlerThreads;

/**
 * Which threads run the handlers: those of an executor that the application has defined
 * for them or as its task executor, else those of the server's own. Boot's task executor
 * is neither, since its few threads and endless queue would let handlers that call each
 * other wait for ever.
 */
class HandlerExecutors {

	/** The name or qualifier of an executor for handlers. */
	static final String BEAN_NAME = "rdmaServerExecutor";

	private static final String VIRTUAL_PROPERTY = "spring.threads.virtual.enabled";

	private final ConfigurableApplicationContext context;

	private final ObjectProvider<Executor> named;

	private final ObjectProvider<Executor> general;

	HandlerExecutors(ConfigurableApplicationContext context, ObjectProvider<Executor> named,
			ObjectProvider<Executor> general) {
		this.context = context;
		this.named = named;
		this.general = general;
	}

	/** The application's executor for handlers, or {@code null} if it has none. */
	@Nullable Executor find() {
		Executor found = this.named.getIfAvailable();
		if (found == null && !isTaskExecutorOfBoot(this.context.getBeanFactory())) {
			found = this.general.getIfAvailable();
		}
		return (found != null) ? new DrainingExecutor(found, this.context) : null;
	}

	private static boolean isTaskExecutorOfBoot(ConfigurableListableBeanFactory beans) {
		return FactoryMethods.isMadeIn(TaskExecutionAutoConfiguration.class.getPackageName(),
				TaskExecutionAutoConfiguration.APPLICATION_TASK_EXECUTOR_BEAN_NAME, beans);
	}

	/** Threads of the kind that all of the application has, unless it says otherwise. */
	HandlerOptions adapt(HandlerOptions options) {
		if (options.threads() != HandlerThreads.AUTO) {
			return options;
		}
		Environment environment = this.context.getEnvironment();
		if (Threading.VIRTUAL.isActive(environment)) {
			return options.withThreads(HandlerThreads.VIRTUAL, options.maxThreads());
		}
		return environment.containsProperty(VIRTUAL_PROPERTY)
				? options.withThreads(HandlerThreads.PLATFORM, options.maxThreads()) : options;
	}

}
