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
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;

import dev.rdmarpc.boot.ImportRdmaClients;
import dev.rdmarpc.boot.RdmaClientCustomizer;
import dev.rdmarpc.boot.RdmaClients;
import dev.rdmarpc.boot.RdmaService;
import dev.rdmarpc.rpc.MethodDescriptor;
import dev.rdmarpc.rpc.RpcClientCall;
import dev.rdmarpc.rpc.RpcClientInterceptor;
import dev.rdmarpc.rpc.RpcContext;

import static org.assertj.core.api.Assertions.assertThat;

/** Interceptors that are beans, around the calls of clients. */
class ClientInterceptorsTests {

	private static final List<String> SEEN = new CopyOnWriteArrayList<>();

	private final ApplicationContextRunner runner = RdmaContextRunner.create().withUserConfiguration(Calling.class);

	@BeforeEach
	void forget() {
		SEEN.clear();
	}

	private static RpcClientInterceptor tagging(String tag) {
		return (call) -> call.withOptions(call.options().withMetadata(tag, "")).proceed();
	}

	private static Tags client(ApplicationContext context, String target) {
		return context.getBean(target + ".clientInterceptorsTests.Tags", Tags.class);
	}

	@Test
	void beansApplyToAllClientsInTheirOrder() {
		this.runner.withUserConfiguration(Ordering.class).run((context) -> {
			assertThat(client(context, "one").tags()).isEqualTo("[first, second, third, customizer]");
			assertThat(client(context, "two").tags()).isEqualTo("[first, second, third, customizer]");
			assertThat(context.getBean(RdmaClients.class).proxy("later", Tags.class).tags())
				.isEqualTo("[first, second, third, customizer]");
		});
	}

	@Test
	void beansApplyToTheClientsTheyChoose() {
		this.runner.withUserConfiguration(Choosing.class).run((context) -> {
			assertThat(client(context, "one").tags()).isEqualTo("[one]");
			assertThat(client(context, "two").tags()).isEqualTo("[]");
			assertThat(client(context, "one").others()).isEqualTo("[]");
		});
	}

	@Test
	void anInterceptorCanMakeCalls() {
		this.runner.withUserConfiguration(Asking.class).run((context) -> {
			assertThat(client(context, "one").tags()).isEqualTo("[token]");
			assertThat(SEEN).containsExactly("one", "tokens");
		});
	}

	/** The service. */
	public interface Tags {

		String tags();

		String others();

	}

	@RdmaService
	static class TagService implements Tags {

		@Override
		public String tags() {
			return Objects.requireNonNull(RpcContext.current()).requestMetadata().asMap().keySet().toString();
		}

		@Override
		public String others() {
			return tags();
		}

	}

	@Configuration(proxyBeanMethods = false)
	@ImportRdmaClients(target = "one", types = Tags.class)
	@ImportRdmaClients(target = "two", types = Tags.class)
	@ImportRdmaClients(target = "tokens", types = Tags.class)
	static class Calling {

		@Bean
		TagService tagService() {
			return new TagService();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class Ordering {

		@Bean
		RpcClientInterceptor thirdInterceptor() {
			return tagging("third");
		}

		@Bean
		@Order(2)
		RpcClientInterceptor secondInterceptor() {
			return tagging("second");
		}

		@Bean
		FirstInterceptor firstInterceptor() {
			return new FirstInterceptor();
		}

		@Bean
		RdmaClientCustomizer last() {
			return (target, client) -> client.interceptor(tagging("customizer"));
		}

	}

	static class FirstInterceptor implements RpcClientInterceptor, Ordered {

		@Override
		public @Nullable Object intercept(RpcClientCall call) {
			return tagging("first").intercept(call);
		}

		@Override
		public int getOrder() {
			return 1;
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class Choosing {

		@Bean
		RpcClientInterceptor choosingInterceptor() {
			return new RpcClientInterceptor() {

				@Override
				public @Nullable Object intercept(RpcClientCall call) {
					return tagging(call.target()).intercept(call);
				}

				@Override
				public boolean appliesTo(String target, MethodDescriptor method) {
					return target.equals("one") && method.name().equals("tags");
				}

			};
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class Asking {

		@Bean
		RpcClientInterceptor askingInterceptor(ObjectProvider<RdmaClients> clients) {
			return (call) -> {
				SEEN.add(call.target());
				if (call.target().equals("tokens")) {
					return "token";
				}
				String token = clients.getObject().proxy("tokens", Tags.class).tags();
				return tagging(token).intercept(call);
			};
		}

	}

}
