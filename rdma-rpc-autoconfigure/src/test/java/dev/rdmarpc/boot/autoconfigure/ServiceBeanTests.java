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

import java.util.List;

import org.aspectj.lang.annotation.Aspect;
import org.aspectj.lang.annotation.Before;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.boot.LazyInitializationBeanFactoryPostProcessor;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;

import dev.rdmarpc.boot.ImportRdmaClients;
import dev.rdmarpc.boot.RdmaClients;
import dev.rdmarpc.boot.RdmaService;
import dev.rdmarpc.boot.endpoint.RdmaEndpoint;
import dev.rdmarpc.boot.health.RdmaHealthContributor;
import dev.rdmarpc.rpc.RpcServer;
import dev.rdmarpc.rpc.ServiceDescriptor;
import dev.rdmarpc.transport.RdmaTransport;

import static org.assertj.core.api.Assertions.assertThat;

/** Which beans are served, however they are declared. */
class ServiceBeanTests {

	private final ApplicationContextRunner runner = RdmaContextRunner.create();

	@ParameterizedTest
	@ValueSource(classes = { NoDefaultCandidate.class, NoAutowireCandidate.class, LazyBean.class, LazyMethod.class,
			AnnotatedMethod.class, AnnotatedClass.class, LambdaMethod.class })
	void beanIsServed(Class<?> configuration) {
		this.runner.withUserConfiguration(configuration).run((context) -> {
			assertThat(context).hasSingleBean(RpcServer.class).hasSingleBean(RdmaServerLifecycle.class);
			assertThat(call(context)).isEqualTo("echo");
		});
	}

	@ParameterizedTest
	@ValueSource(classes = { NoDefaultCandidate.class, LazyBean.class, AnnotatedMethod.class })
	void beanIsServedWhereAllAreLazy(Class<?> configuration) {
		this.runner.withUserConfiguration(configuration)
			.withInitializer(
					(context) -> context.addBeanFactoryPostProcessor(new LazyInitializationBeanFactoryPostProcessor()))
			.run((context) -> assertThat(call(context)).isEqualTo("echo"));
	}

	@Test
	void beanFoundLateIsServedTogetherWithOthers() {
		this.runner.withUserConfiguration(EarlyAndLate.class)
			.run((context) -> assertThat(services(context)).containsExactlyInAnyOrder("early", Echo.class.getName()));
	}

	@Test
	void beanFoundLateIsSeenByOthers() {
		this.runner.withUserConfiguration(AnnotatedClass.class)
			.withPropertyValues("management.endpoints.jmx.exposure.include=rdma", "spring.jmx.enabled=true")
			.run((context) -> {
				assertThat(context.getBean(RdmaHealthContributor.class).getContributor("server")).isNotNull();
				assertThat(context.getBean(RdmaEndpoint.class).rdma().server()).isNotNull();
			});
	}

	@Test
	void serverFoundLateStopsWithTheContext() {
		RpcServer[] server = new RpcServer[1];
		RdmaTransport[] transport = new RdmaTransport[1];
		this.runner.withUserConfiguration(AnnotatedClass.class).run((context) -> {
			server[0] = context.getBean(RpcServer.class);
			transport[0] = context.getBean(RdmaTransport.class);
			assertThat(call(context)).isEqualTo("echo");
		});
		assertThat(server[0].isRunning()).isFalse();
		assertThat(transport[0].memory().metrics().outstanding()).isZero();
	}

	@Test
	void beanBehindAProxyThatIsFoundLateIsServed() {
		this.runner.withConfiguration(AutoConfigurations.of(AopAutoConfiguration.class))
			.withPropertyValues("spring.aop.proxy-target-class=false")
			.withUserConfiguration(AnnotatedClass.class, Nothing.class)
			.run((context) -> {
				assertThat(AopUtils.isJdkDynamicProxy(context.getBean(Echo.class))).isTrue();
				assertThat(call(context)).isEqualTo("echo");
			});
	}

	@Test
	void beanFoundAfterTheServerHadBeenInjectedIsReported() {
		this.runner.withUserConfiguration(EarlyAndLate.class, WantsServer.class)
			.run((context) -> assertThat(context).getFailure()
				.isInstanceOf(InvalidServiceException.class)
				.hasMessage("@RdmaService of bean 'late' was found after the server had been made"));
	}

	@Test
	void beanOfAnAncestorIsServed() {
		try (AnnotationConfigApplicationContext parent = new AnnotationConfigApplicationContext(
				AnnotatedMethod.class)) {
			this.runner.withParent(parent).run((context) -> assertThat(call(context)).isEqualTo("echo"));
		}
	}

	@Test
	void ancestorWithServerServesItsBeansItself() {
		this.runner.withUserConfiguration(AnnotatedMethod.class).run((parent) -> {
			this.runner.withParent(parent)
				.run((context) -> assertThat(context.getBean(RpcServer.class))
					.isSameAs(parent.getBean(RpcServer.class)));
			this.runner.withParent(parent).withUserConfiguration(Early.class).run((context) -> {
				assertThat(services(parent)).containsExactly(Echo.class.getName());
				assertThat(services(context)).containsExactly("early");
			});
			assertThat(parent.getBean(RpcServer.class).isRunning()).isTrue();
		});
	}

	@Test
	void clientOfAnAnnotatedInterfaceIsNotServed() {
		this.runner.withUserConfiguration(AnnotatedClient.class)
			.run((context) -> assertThat(context).hasSingleBean(AnnotatedEcho.class).doesNotHaveBean(RpcServer.class));
	}

	private static List<String> services(ApplicationContext context) {
		return context.getBean(RpcServer.class).services().stream().map(ServiceDescriptor::name).toList();
	}

	private static String call(ApplicationContext context) {
		return context.getBean(RdmaClients.class).proxy("any", Echo.class).echo("echo");
	}

	/** A service. */
	public interface Echo {

		String echo(String text);

	}

	/** A service whose implementations are all to be served. */
	@RdmaService
	public interface AnnotatedEcho {

		String echo(String text);

	}

	static class PlainEcho implements Echo {

		@Override
		public String echo(String text) {
			return text;
		}

	}

	@RdmaService
	static class AnnotatedEchoService extends PlainEcho {

	}

	@Configuration(proxyBeanMethods = false)
	static class NoDefaultCandidate {

		@Bean(defaultCandidate = false)
		AnnotatedEchoService echo() {
			return new AnnotatedEchoService();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class NoAutowireCandidate {

		@Bean(autowireCandidate = false)
		AnnotatedEchoService echo() {
			return new AnnotatedEchoService();
		}

	}

	@Lazy
	@RdmaService
	static class LazyBean extends PlainEcho {

	}

	@Configuration(proxyBeanMethods = false)
	static class LazyMethod {

		@Bean
		@Lazy
		AnnotatedEchoService echo() {
			return new AnnotatedEchoService();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class AnnotatedMethod {

		@Bean
		@RdmaService
		Echo echo() {
			return new PlainEcho();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class AnnotatedClass {

		@Bean
		Echo echo() {
			return new AnnotatedEchoService();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class LambdaMethod {

		@Bean
		@RdmaService
		Echo echo() {
			return (text) -> text;
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class Early {

		@Bean
		@RdmaService(name = "early")
		Echo early() {
			return new PlainEcho();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class EarlyAndLate extends Early {

		@Bean
		Echo late() {
			return new AnnotatedEchoService();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class WantsServer {

		@Bean
		static BeanFactoryPostProcessor first() {
			return (beanFactory) -> beanFactory.getBean(RpcServer.class);
		}

	}

	@Aspect
	static class Nothing {

		@Before("execution(String echo(String))")
		void nothing() {
		}

	}

	@Configuration(proxyBeanMethods = false)
	@ImportRdmaClients(target = "any", types = AnnotatedEcho.class)
	static class AnnotatedClient {

	}

}
