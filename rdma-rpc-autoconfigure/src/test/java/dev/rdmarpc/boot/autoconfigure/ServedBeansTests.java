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

import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.function.Function;
import java.util.stream.Collectors;

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
import dev.rdmarpc.rpc.RdmaMethod;
import dev.rdmarpc.rpc.RpcServer;
import dev.rdmarpc.rpc.ServiceDescriptor;

import static org.assertj.core.api.Assertions.assertThat;

/** Which beans are served, by what names, and where their handlers run. */
class ServedBeansTests {

	private final ApplicationContextRunner runner = RdmaContextRunner.create();

	@Test
	void exportsInterfaceOfSuperclassButNotThoseOfTheJdk() {
		assertExported(Inheriting.class, Echo.class);
	}

	@Test
	void exportsAnnotatedOnesOfSeveralInterfaces() {
		assertExported(Annotated.class, Contract.class);
	}

	@Test
	void severalInterfacesOfWhichNoneIsAnnotatedFail() {
		this.runner.withUserConfiguration(Several.class)
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.isInstanceOf(InvalidServiceException.class)
				.hasMessageContaining(
						"implements several interfaces: " + Length.class.getName() + ", " + Echo.class.getName()));
	}

	@Test
	void exportsInheritedInterfacesThatNoOtherBeanHas() {
		assertExported(Broad.class, EchoAndLength.class, Echo.class, Length.class);
		this.runner.withUserConfiguration(Broad.class, Broader.class)
			.run((context) -> assertThat(context.getBean(RpcServer.class).services())
				.extracting((service) -> (Object) service.type())
				.containsExactlyInAnyOrder(EchoAndLength.class, EchoAndMore.class, Length.class));
		this.runner.withUserConfiguration(Broad.class, PlainEcho.class).run((context) -> {
			assertThat(client(context, Echo.class).echo("plain")).isEqualTo("plain");
			assertThat(client(context, Length.class).length("four")).isEqualTo(4);
		});
	}

	@Test
	void boundGenericInterfaceIsCalled() {
		this.runner.withUserConfiguration(ThingTable.class).run((context) -> {
			assertThat(context.getBean(RpcServer.class).services()).extracting((service) -> (Object) service.type())
				.containsExactly(Things.class);
			Things things = client(context, Things.class);
			Thing thing = new Thing("a", 1);
			assertThat(things.save(thing)).isEqualTo("a");
			assertThat(things.find("a")).contains(thing);
			assertThat(things.get("a")).isEqualTo(thing);
			assertThat(things.all(List.of("a", "a"))).containsExactly(Map.entry("a", thing));
			assertThat(things.array(new String[] { "a" })).containsExactly(thing);
			Crud<Thing, String> crud = things;
			assertThat(crud.get("a")).isEqualTo(thing);
		});
	}

	@Test
	void unboundGenericInterfaceFails() {
		this.runner.withUserConfiguration(UnboundTable.class)
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.hasMessageContaining("implements no interface to serve"));
	}

	private void assertExported(Class<?> bean, Class<?>... services) {
		this.runner.withUserConfiguration(bean)
			.run((context) -> assertThat(context.getBean(RpcServer.class).services())
				.extracting((service) -> (Object) service.type())
				.containsExactlyInAnyOrder((Object[]) services));
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

	@Test
	void handlersOfAChildDoNotRunOnTheTaskExecutorThatBootHasMadeForItsParent() {
		ApplicationContextRunner withExecutor = new ApplicationContextRunner()
			.withConfiguration(AutoConfigurations.of(TaskExecutionAutoConfiguration.class));
		withExecutor.run((parent) -> this.runner.withParent(parent)
			.withConfiguration(AutoConfigurations.of(TaskExecutionAutoConfiguration.class))
			.withUserConfiguration(ThreadNames.class)
			.run((context) -> {
				assertThat(context.getBeanFactory().containsBeanDefinition("applicationTaskExecutor")).isFalse();
				assertThat(client(context, ThreadName.class).threadName()).startsWith("rdma-rpc-handler-");
			}));
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

	/** A service that says so. */
	@RdmaService
	public interface Contract {

		int length(String text);

	}

	/** Extends others. */
	public interface EchoAndLength extends Echo, Length {

	}

	/** Extends one of the same. */
	public interface EchoAndMore extends Echo {

		void more();

	}

	/** A value. */
	public record Thing(String name, int size) {

	}

	/** A service when its variables are bound. */
	public interface Crud<T, I> {

		I save(T thing);

		Optional<T> find(I id);

		T get(I id);

		Map<I, T> all(List<? extends I> ids);

		T[] array(I[] ids);

	}

	/** Binds them, and declares one of the methods again. */
	public interface Things extends Crud<Thing, String> {

		@Override
		@RdmaMethod(idempotent = true)
		Thing get(String id);

	}

	@RdmaService
	static class ThingTable implements Things {

		private final Map<String, Thing> things = new ConcurrentHashMap<>();

		@Override
		public String save(Thing thing) {
			this.things.put(thing.name(), thing);
			return thing.name();
		}

		@Override
		public Optional<Thing> find(String id) {
			return Optional.ofNullable(this.things.get(id));
		}

		@Override
		public Thing get(String id) {
			return find(id).orElseThrow();
		}

		@Override
		public Map<String, Thing> all(List<? extends String> ids) {
			return ids.stream().distinct().collect(Collectors.toMap((id) -> id, this::get));
		}

		@Override
		public Thing[] array(String[] ids) {
			return Arrays.stream(ids).map(this::get).toArray(Thing[]::new);
		}

	}

	@RdmaService
	static class UnboundTable implements Comparator<String>, Function<String, String> {

		@Override
		public int compare(String left, String right) {
			return left.compareTo(right);
		}

		@Override
		public String apply(String text) {
			return text;
		}

	}

	@RdmaService
	static class Inheriting extends Base implements Comparable<Inheriting> {

		@Override
		public int compareTo(Inheriting other) {
			return 0;
		}

	}

	@RdmaService
	static class Annotated extends Base implements Contract {

		@Override
		public int length(String text) {
			return text.length();
		}

	}

	@RdmaService
	static class Broad extends Base implements EchoAndLength {

		@Override
		public int length(String text) {
			return text.length();
		}

	}

	@RdmaService
	static class Broader extends Base implements EchoAndMore {

		@Override
		public void more() {
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

	@RdmaService(interfaces = { Echo.class, Length.class }, name = "both")
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
