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

import java.util.Locale;
import java.util.concurrent.Executor;

import org.aspectj.lang.ProceedingJoinPoint;
import org.aspectj.lang.annotation.Around;
import org.aspectj.lang.annotation.Aspect;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.autoconfigure.task.TaskExecutionAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Scope;
import org.springframework.context.annotation.ScopedProxyMode;
import org.springframework.core.task.SimpleAsyncTaskExecutor;

import dev.rdmarpc.boot.RdmaClients;
import dev.rdmarpc.boot.RdmaService;
import dev.rdmarpc.codec.UnsupportedTypeException;
import dev.rdmarpc.rpc.RpcServer;
import dev.rdmarpc.rpc.ServiceDescriptor;

import static org.assertj.core.api.Assertions.assertThat;

/** Which beans are served, by what names, and where their handlers run. */
class ServedBeansTests {

	private final ApplicationContextRunner runner = RdmaContextRunner.create();

	@Test
	void exportsInterfacesOfSuperclassesButNotThoseOfTheJdk() {
		this.runner.withUserConfiguration(Several.class)
			.run((context) -> assertThat(context.getBean(RpcServer.class).services())
				.extracting((service) -> (Object) service.type())
				.containsExactlyInAnyOrder(Echo.class, Length.class));
	}

	@Test
	void exportsNamedInterfacesOnly() {
		this.runner.withUserConfiguration(Selective.class).run((context) -> {
			assertThat(context.getBean(RpcServer.class).services()).extracting(ServiceDescriptor::name)
				.containsExactly("length.v1");
			assertThat(context.getBean(RdmaClients.class).client("any").proxy("length.v1", Length.class).length("four"))
				.isEqualTo(4);
		});
	}

	@Test
	void exportsBeanMethods() {
		this.runner.withUserConfiguration(BeanMethod.class)
			.run((context) -> assertThat(client(context, Echo.class).echo("a")).isEqualTo("a"));
	}

	@Test
	void exportsScopedBeanOnce() {
		this.runner.withUserConfiguration(ScopedService.class)
			.run((context) -> assertThat(client(context, Echo.class).echo("a")).isEqualTo("scoped a"));
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void callsGoThroughAspects(boolean proxyTargetClass) {
		this.runner.withConfiguration(AutoConfigurations.of(AopAutoConfiguration.class))
			.withPropertyValues("spring.aop.proxy-target-class=" + proxyTargetClass)
			.withUserConfiguration(PlainEcho.class, Shouting.class)
			.run((context) -> {
				Echo bean = context.getBean(Echo.class);
				assertThat(AopUtils.isCglibProxy(bean)).isEqualTo(proxyTargetClass);
				assertThat(AopUtils.isJdkDynamicProxy(bean)).isEqualTo(!proxyTargetClass);
				assertThat(client(context, Echo.class).echo("quiet")).isEqualTo("QUIET");
			});
	}

	@Test
	void handlersDoNotRunOnTheTaskExecutorOfBoot() {
		this.runner.withConfiguration(AutoConfigurations.of(TaskExecutionAutoConfiguration.class))
			.withUserConfiguration(ThreadNames.class)
			.run((context) -> {
				assertThat(context).hasBean("applicationTaskExecutor");
				assertThat(client(context, ThreadName.class).threadName()).startsWith("rdma-rpc-handler-");
			});
	}

	@ParameterizedTest
	@ValueSource(strings = { "applicationTaskExecutor", "rdmaServerExecutor" })
	void handlersRunOnTheApplicationsOwnExecutor(String name) {
		this.runner.withConfiguration(AutoConfigurations.of(TaskExecutionAutoConfiguration.class))
			.withUserConfiguration(ThreadNames.class)
			.withBean(name, Executor.class, () -> new SimpleAsyncTaskExecutor("application-"))
			.run((context) -> assertThat(client(context, ThreadName.class).threadName()).startsWith("application-"));
	}

	@Test
	void handlersRunOnTheExecutorThatIsQualifiedForThem() {
		this.runner.withConfiguration(AutoConfigurations.of(TaskExecutionAutoConfiguration.class))
			.withUserConfiguration(ThreadNames.class, QualifiedExecutor.class)
			.withBean("applicationTaskExecutor", Executor.class, () -> new SimpleAsyncTaskExecutor("general-"))
			.run((context) -> assertThat(client(context, ThreadName.class).threadName()).startsWith("qualified-"));
	}

	@Test
	@EnabledForJreRange(min = JRE.JAVA_21)
	void handlersRunOnVirtualThreadsLikeTheApplication() {
		this.runner.withConfiguration(AutoConfigurations.of(TaskExecutionAutoConfiguration.class))
			.withPropertyValues("spring.threads.virtual.enabled=true")
			.withUserConfiguration(ThreadNames.class)
			.run((context) -> {
				ThreadName names = client(context, ThreadName.class);
				assertThat(names.threadKind()).startsWith("VirtualThread");
				assertThat(names.threadName()).startsWith("rdma-rpc-handler-");
			});
	}

	@Test
	void handlersRunOnPlatformThreadsIfTheApplicationWantsNoOthers() {
		this.runner.withPropertyValues("spring.threads.virtual.enabled=false")
			.withUserConfiguration(ThreadNames.class)
			.run((context) -> assertThat(client(context, ThreadName.class).threadKind()).startsWith("Thread["));
	}

	@Test
	void handlersRunOnTheKindOfThreadsThatThePropertySays() {
		this.runner
			.withPropertyValues("spring.threads.virtual.enabled=true", "rdma.rpc.server.handler-threads=platform")
			.withUserConfiguration(ThreadNames.class)
			.run((context) -> assertThat(client(context, ThreadName.class).threadKind()).startsWith("Thread["));
	}

	@Test
	void handlersRunOnTheServersOwnThreadsWithoutExecutor() {
		boolean virtual = Runtime.version().feature() >= 24;
		this.runner.withUserConfiguration(ThreadNames.class).run((context) -> {
			ThreadName names = client(context, ThreadName.class);
			assertThat(names.threadName()).startsWith("rdma-rpc-handler-");
			assertThat(names.threadKind()).startsWith(virtual ? "VirtualThread" : "Thread[");
		});
	}

	@Test
	void serviceWithoutInterfaceFails() {
		this.runner.withUserConfiguration(NoInterface.class)
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.hasMessageContaining("implements no interface to serve"));
	}

	@Test
	void nameForSeveralInterfacesFails() {
		this.runner.withUserConfiguration(AmbiguousName.class)
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.hasMessageContaining("has the name 'both'")
				.hasMessageContaining("(expected: one interface)"));
	}

	@Test
	void interfaceThatIsNotImplementedFails() {
		this.runner.withUserConfiguration(WrongInterface.class)
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.hasMessageContaining("names " + Length.class.getName())
				.hasMessageContaining("does not implement"));
	}

	@Test
	void unsupportedTypeFails() {
		this.runner.withUserConfiguration(UnsupportedService.class)
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.isInstanceOf(UnsupportedTypeException.class)
				.hasMessageContaining("java.lang.Thread"));
	}

	private static <T> T client(ApplicationContext context, Class<T> type) {
		return context.getBean(RdmaClients.class).proxy("any", type);
	}

	/** A service. */
	public interface Echo {

		String echo(String text);

	}

	/** Another one. */
	public interface Length {

		int length(String text);

	}

	/** Tells where handlers run. */
	public interface ThreadName {

		String threadName();

		String threadKind();

	}

	/** Cannot be called. */
	public interface Unsupported {

		void run(Thread thread);

	}

	static class Base implements Echo {

		@Override
		public String echo(String text) {
			return text;
		}

	}

	@RdmaService
	static class Several extends Base implements Length, Comparable<Several>, AutoCloseable {

		@Override
		public int length(String text) {
			return text.length();
		}

		@Override
		public int compareTo(Several other) {
			return 0;
		}

		@Override
		public void close() {
		}

	}

	@RdmaService(interfaces = Length.class, name = "length.v1")
	static class Selective extends Base implements Length {

		@Override
		public int length(String text) {
			return text.length();
		}

	}

	@RdmaService(name = "both")
	static class AmbiguousName extends Base implements Length {

		@Override
		public int length(String text) {
			return text.length();
		}

	}

	@RdmaService(interfaces = Length.class)
	static class WrongInterface extends Base {

	}

	@RdmaService
	static class NoInterface {

	}

	@RdmaService
	static class PlainEcho extends Base {

	}

	@RdmaService
	@Scope(scopeName = "prototype", proxyMode = ScopedProxyMode.TARGET_CLASS)
	static class ScopedService implements Echo {

		@Override
		public String echo(String text) {
			return "scoped " + text;
		}

	}

	@RdmaService
	static class UnsupportedService implements Unsupported {

		@Override
		public void run(Thread thread) {
		}

	}

	@RdmaService
	static class ThreadNames implements ThreadName {

		@Override
		public String threadName() {
			return Thread.currentThread().getName();
		}

		@Override
		public String threadKind() {
			return Thread.currentThread().toString();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class QualifiedExecutor {

		@Bean
		@Qualifier("rdmaServerExecutor")
		Executor handlerThreads() {
			return new SimpleAsyncTaskExecutor("qualified-");
		}

	}

	@Aspect
	static class Shouting {

		@Around("execution(String echo(String))")
		Object shout(ProceedingJoinPoint call) throws Throwable {
			return String.valueOf(call.proceed()).toUpperCase(Locale.ROOT);
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class BeanMethod {

		@Bean
		@RdmaService
		Base echo() {
			return new Base();
		}

	}

}
