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

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.annotation.Order;

import dev.rdmarpc.boot.ImportRdmaClients;
import dev.rdmarpc.boot.RdmaAdvice;
import dev.rdmarpc.boot.RdmaExceptionHandler;
import dev.rdmarpc.boot.RdmaServerCustomizer;
import dev.rdmarpc.boot.RdmaService;
import dev.rdmarpc.rpc.MethodDescriptor;
import dev.rdmarpc.rpc.RpcException;
import dev.rdmarpc.rpc.RpcServerCall;
import dev.rdmarpc.rpc.RpcServerInterceptor;
import dev.rdmarpc.rpc.RpcStatus;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** Interceptors that are beans, around the handlers of a server. */
class ServerInterceptorsTests {

	private final ApplicationContextRunner runner = RdmaContextRunner.create().withUserConfiguration(Serving.class);

	private static RpcServerInterceptor around(String mark) {
		return (call) -> mark + call.proceed() + mark;
	}

	private static Notes notes(ApplicationContext context) {
		return context.getBean("notes.serverInterceptorsTests.Notes", Notes.class);
	}

	@Test
	void beansApplyToAllServicesInTheirOrder() {
		this.runner.withUserConfiguration(Ordering.class).run((context) -> {
			assertThat(notes(context).note("a")).isEqualTo("123a321");
			assertThat(context.getBean(Others.class).other("a")).isEqualTo("123a321");
		});
	}

	@Test
	void beansApplyToTheServicesTheyChoose() {
		this.runner.withUserConfiguration(Choosing.class).run((context) -> {
			assertThat(notes(context).note("a")).isEqualTo("1a1");
			assertThat(context.getBean(Others.class).other("a")).isEqualTo("a");
		});
	}

	@Test
	void advicesSeeWhatComesOut() {
		this.runner.withUserConfiguration(Failing.class)
			.run((context) -> assertThatExceptionOfType(RpcException.class).isThrownBy(() -> notes(context).note("a"))
				.satisfies((ex) -> assertThat(ex.status()).isEqualTo(RpcStatus.ABORTED))
				.satisfies((ex) -> assertThat(ex.detail()).isEqualTo("of the interceptor")));
	}

	/** A service. */
	public interface Notes {

		String note(String text);

	}

	/** Another service. */
	public interface Others {

		String other(String text);

	}

	@RdmaService
	static class NoteService implements Notes {

		@Override
		public String note(String text) {
			return text;
		}

	}

	@Configuration(proxyBeanMethods = false)
	@ImportRdmaClients(target = "notes", types = Notes.class)
	@ImportRdmaClients(target = "others", types = Others.class)
	static class Serving {

		@Bean
		NoteService noteService() {
			return new NoteService();
		}

		@Bean
		RdmaServerCustomizer otherService() {
			return (server) -> server.service(Others.class, (text) -> text);
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class Ordering {

		@Bean
		RpcServerInterceptor thirdInterceptor() {
			return around("3");
		}

		@Bean
		@Order(2)
		RpcServerInterceptor secondInterceptor() {
			return around("2");
		}

		@Bean
		@Order(1)
		RpcServerInterceptor firstInterceptor() {
			return around("1");
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class Choosing {

		@Bean
		RpcServerInterceptor choosingInterceptor() {
			return new RpcServerInterceptor() {

				@Override
				public @Nullable Object intercept(RpcServerCall call) throws Throwable {
					return around("1").intercept(call);
				}

				@Override
				public boolean appliesTo(MethodDescriptor method) {
					return method.service().equals(Notes.class.getName());
				}

			};
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class Failing {

		@Bean
		RpcServerInterceptor failingInterceptor() {
			return (call) -> {
				throw new IllegalStateException("of the interceptor");
			};
		}

		@Bean
		Advice advice() {
			return new Advice();
		}

	}

	@RdmaAdvice
	static class Advice {

		@RdmaExceptionHandler(IllegalStateException.class)
		RpcStatus aborted() {
			return RpcStatus.ABORTED;
		}

	}

}
