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

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.Principal;
import java.util.List;

import io.grpc.BindableService;
import io.grpc.CallOptions;
import io.grpc.Context;
import io.grpc.Contexts;
import io.grpc.LoadBalancer;
import io.grpc.LoadBalancerProvider;
import io.grpc.LoadBalancerRegistry;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.ServerInterceptors;
import io.grpc.ServerServiceDefinition;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.ServerCalls;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.boot.grpc.client.autoconfigure.GrpcClientAutoConfiguration;
import org.springframework.boot.grpc.server.autoconfigure.GrpcServerAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ApplicationContext;
import org.springframework.grpc.client.GrpcChannelFactory;

import dev.rdmarpc.boot.GreeterService;
import dev.rdmarpc.boot.RdmaClients;
import dev.rdmarpc.grpc.RdmaServerBuilder;
import dev.rdmarpc.transport.ChannelLoop;
import dev.rdmarpc.transport.ChannelSnapshot;
import dev.rdmarpc.transport.RdmaTransport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

/** gRPC over RDMA, over the rails and with the protection that properties say. */
@ExtendWith(OutputCaptureExtension.class)
class GrpcPropertiesTests {

	private static final MethodDescriptor<String, String> WHO = MethodDescriptor.<String, String>newBuilder()
		.setType(MethodDescriptor.MethodType.UNARY)
		.setFullMethodName("Who/Calls")
		.setRequestMarshaller(new TextMarshaller())
		.setResponseMarshaller(new TextMarshaller())
		.build();

	@TempDir
	private Path directory;

	private final ApplicationContextRunner runner = RdmaContextRunner.create()
		.withConfiguration(AutoConfigurations.of(GrpcServerAutoConfiguration.class, GrpcClientAutoConfiguration.class,
				RdmaGrpcServerAutoConfiguration.class, RdmaGrpcClientAutoConfiguration.class))
		.withBean(BindableService.class, () -> WhoCalls::definition)
		.withPropertyValues("rdma.rpc.grpc.server.port=0", "rdma.rpc.grpc.server.address=127.0.0.1",
				"spring.grpc.client.channel.peer.target=rdma:///localhost:${local.rdma.grpc.port}",
				"spring.grpc.client.channel.another.target=rdma:///localhost:${local.rdma.grpc.port}");

	/** Boot asks for it by default, and it is not among the libraries here. */
	@BeforeAll
	static void registerRoundRobin() {
		LoadBalancerRegistry.getDefaultRegistry().register(new RoundRobinProvider());
	}

	private static String call(ApplicationContext context, String target) {
		return ClientCalls.blockingUnaryCall(context.getBean(GrpcChannelFactory.class).createChannel(target), WHO,
				CallOptions.DEFAULT, "");
	}

	private static Status refusal(ApplicationContext context, String target) {
		return catchThrowableOfType(StatusRuntimeException.class, () -> call(context, target)).getStatus();
	}

	private String[] pem(String bundle, TestCertificates own) throws Exception {
		String prefix = "spring.ssl.bundle.pem." + bundle + ".";
		var files = own.writePem(this.directory);
		var trusted = TestCertificates.server().writePem(this.directory);
		return new String[] { prefix + "keystore.certificate=" + files.get(0).toUri(),
				prefix + "keystore.private-key=" + files.get(1).toUri(),
				prefix + "truststore.certificate=" + trusted.get(0).toUri() };
	}

	@Test
	void nobodyIsAskedByDefault() {
		this.runner.run((context) -> assertThat(call(context, "peer")).isEqualTo("nobody known"));
	}

	@Test
	void channelsShowTheTokensOfTheirNamesOverTls() throws Exception {
		this.runner.withPropertyValues(pem("server", TestCertificates.server()))
			.withPropertyValues(pem("client", TestCertificates.client()))
			.withPropertyValues("rdma.rpc.server.ssl.bundle=server", "rdma.rpc.server.tokens.reports=abc",
					"rdma.rpc.client.default.ssl.bundle=client", "rdma.rpc.client.peer.token=abc",
					"rdma.rpc.client.plain.ssl.bundle=", "rdma.rpc.client.plain.token=abc",
					"spring.grpc.client.channel.plain.target=rdma:///localhost:${local.rdma.grpc.port}")
			.run((context) -> {
				assertThat(call(context, "peer")).isEqualTo("reports");
				Status unknown = refusal(context, "another");
				assertThat(unknown.getCode()).isEqualTo(Status.Code.UNAUTHENTICATED);
				assertThat(unknown.getDescription()).contains("a token is required");
				assertThat(refusal(context, "plain").getDescription()).contains("TLS is required here");
			});
	}

	@Test
	void protectionCanBeRequired() {
		this.runner.withPropertyValues("rdma.rpc.grpc.server.address=0.0.0.0", "rdma.rpc.security.required=true")
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.isInstanceOfSatisfying(InvalidConfigurationPropertyValueException.class, (invalid) -> {
					assertThat(invalid.getName()).isEqualTo("rdma.rpc.security.required");
					assertThat(invalid.getReason()).contains("without TLS and without authentication");
				}));
	}

	@Test
	void whoMayCallServicesIsNotForGrpc() {
		ApplicationContextRunner guarded = this.runner.withPropertyValues("rdma.rpc.server.tokens.reports=abc",
				"rdma.rpc.client.peer.token=abc");
		for (String enabled : List.of("true", "false")) {
			guarded
				.withPropertyValues("rdma.rpc.server.services.who.allow=others", "rdma.rpc.server.enabled=" + enabled)
				.run((context) -> assertThat(context).getFailure()
					.rootCause()
					.isInstanceOfSatisfying(InvalidConfigurationPropertyValueException.class, (invalid) -> {
						assertThat(invalid.getName()).isEqualTo("rdma.rpc.server.services.who.allow");
						assertThat(invalid.getReason()).contains("@RdmaService beans only", "services of gRPC");
					}));
		}
		guarded.withBean(GreeterService.class)
			.withPropertyValues("rdma.rpc.server.services.greeter.allow=others")
			.run((context) -> assertThat(call(context, "peer")).isEqualTo("reports"));
	}

	@Test
	void aBundleThatDoesNotExistFailsTheStart() {
		this.runner.withPropertyValues("rdma.rpc.client.peer.ssl.bundle=cleint")
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.isInstanceOfSatisfying(InvalidConfigurationPropertyValueException.class,
						(invalid) -> assertThat(invalid.getName()).isEqualTo("rdma.rpc.client.peer.ssl.bundle")));
	}

	@Test
	void channelsUseTheRailsOfTheirNames() {
		this.runner.withPropertyValues("rdma.rpc.providers=shm,iwarp",
				"rdma.rpc.shm.directory=" + this.directory.resolve("shm"), "rdma.rpc.client.another.providers=iwarp")
			.run((context) -> {
				call(context, "another");
				assertThat(rails(context)).containsExactly("iwarp");
				call(context, "peer");
				assertThat(rails(context)).containsExactlyInAnyOrder("iwarp", "shm");
			});
	}

	private static List<String> rails(ApplicationContext context) {
		return context.getBean(RdmaTransport.class)
			.loops()
			.stream()
			.filter((loop) -> loop.channels().stream().map(ChannelSnapshot::of).anyMatch(ChannelSnapshot::initiator))
			.map(ChannelLoop::rail)
			.toList();
	}

	@Test
	void aRailThatIsNotInUseFailsTheChannel() {
		this.runner.withPropertyValues("rdma.rpc.provider=iwarp", "rdma.rpc.client.peer.providers=shm")
			.run((context) -> {
				GrpcChannelFactory channels = context.getBean(GrpcChannelFactory.class);
				assertThatExceptionOfType(InvalidConfigurationPropertyValueException.class)
					.isThrownBy(() -> channels.createChannel("peer"))
					.satisfies((invalid) -> assertThat(invalid.getName()).isEqualTo("rdma.rpc.client.peer.providers"))
					.withMessageContaining("some of the providers in use, which are [iwarp]");
			});
	}

	/** They are no targets of the application's own clients. */
	@Test
	void namesOfChannelsAreKnown(CapturedOutput output) {
		this.runner
			.withPropertyValues("rdma.rpc.client.another.rail-interval=20s", "rdma.rpc.client.per.rail-interval=20s",
					"rdma.rpc.client.needed.required=true",
					"spring.grpc.client.channel.needed.target=rdma:///localhost:${local.rdma.grpc.port}",
					"spring.grpc.client.channel.plain.target=static://localhost:9090",
					"rdma.rpc.client.plain.rail-interval=20s")
			.run((context) -> {
				assertThat(output)
					.containsPattern(
							"WARN.*no client of 'per' is imported. Did you mean 'peer', which is a gRPC channel"
									+ " and has no properties\\?")
					.contains("no client of 'plain' is imported")
					.doesNotContain("no client of 'another'")
					.doesNotContain("no client of 'needed'");
				assertThat(context.getBean(RdmaClients.class).clients()).containsOnlyKeys("per", "plain", "needed");
			});
	}

	@Test
	void anIntervalThatIsNoneFailsTheStart() {
		this.runner.withPropertyValues("rdma.rpc.client.peer.rail-interval=0s")
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.isInstanceOfSatisfying(InvalidConfigurationPropertyValueException.class,
						(invalid) -> assertThat(invalid.getName()).isEqualTo("rdma.rpc.client.peer.rail-interval")));
	}

	/** Says who calls, as the attributes of the call tell. */
	private static final class WhoCalls implements ServerInterceptor {

		private static final Context.Key<Principal> CALLER = Context.key("caller");

		static ServerServiceDefinition definition() {
			return ServerInterceptors.intercept(ServerServiceDefinition.builder("Who")
				.addMethod(WHO, ServerCalls.asyncUnaryCall((request, observer) -> {
					Principal caller = CALLER.get();
					observer.onNext((caller != null) ? caller.getName() : "nobody known");
					observer.onCompleted();
				}))
				.build(), new WhoCalls());
		}

		@Override
		public <ReqT, RespT> ServerCall.Listener<ReqT> interceptCall(ServerCall<ReqT, RespT> call, Metadata headers,
				ServerCallHandler<ReqT, RespT> next) {
			Principal caller = call.getAttributes().get(RdmaServerBuilder.TRANSPORT_ATTR_PRINCIPAL);
			return Contexts.interceptCall(Context.current().withValue(CALLER, caller), call, headers, next);
		}

	}

	/** The first address is as good as any, because there is one only. */
	private static final class RoundRobinProvider extends LoadBalancerProvider {

		@Override
		public boolean isAvailable() {
			return true;
		}

		@Override
		public int getPriority() {
			return 0;
		}

		@Override
		public String getPolicyName() {
			return "round_robin";
		}

		@Override
		public LoadBalancer newLoadBalancer(LoadBalancer.Helper helper) {
			return LoadBalancerRegistry.getDefaultRegistry().getProvider("pick_first").newLoadBalancer(helper);
		}

	}

	/** Text as UTF-8. */
	private static final class TextMarshaller implements MethodDescriptor.Marshaller<String> {

		@Override
		public InputStream stream(String text) {
			return new ByteArrayInputStream(text.getBytes(StandardCharsets.UTF_8));
		}

		@Override
		public String parse(InputStream stream) {
			try {
				return new String(stream.readAllBytes(), StandardCharsets.UTF_8);
			}
			catch (IOException ex) {
				throw new UncheckedIOException(ex);
			}
		}

	}

}
