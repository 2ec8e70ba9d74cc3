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

package dev.rdmarpc.grpc;

import java.nio.charset.StandardCharsets;
import java.security.Principal;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;

import io.grpc.Attributes;
import io.grpc.CallOptions;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.SecurityLevel;
import io.grpc.Server;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.internal.GrpcAttributes;
import io.grpc.stub.ClientCalls;
import org.assertj.core.api.Assertions;
import org.junit.jupiter.api.Test;

import dev.rdmarpc.TestCertificates;
import dev.rdmarpc.transport.ChannelOptions;
import dev.rdmarpc.transport.ChannelSecurity;
import dev.rdmarpc.transport.RdmaAuthenticator;
import dev.rdmarpc.verbs.TlsOptions;

/** Connections that are protected, and callers that are known. */
class SecurityTests {

	private static final RdmaAuthenticator TOKENS = RdmaAuthenticator.ofTokens(Map.of("reports", bytes("a token")));

	private final AtomicReference<Attributes> seen = new AtomicReference<>();

	private static byte[] bytes(String text) {
		return text.getBytes(StandardCharsets.UTF_8);
	}

	private static TlsOptions tls(TestCertificates own, TestCertificates trusted) {
		return TlsOptions.of(() -> own.context(trusted));
	}

	private static ChannelSecurity withTls(ChannelSecurity security) {
		return security.withTls(tls(TestCertificates.client(), TestCertificates.server()));
	}

	private Optional<Status> call(ChannelSecurity server, ChannelSecurity client) throws Exception {
		try (GrpcFixture fixture = new GrpcFixture()) {
			Server served = fixture
				.serve((builder) -> builder.channelOptions(ChannelOptions.DEFAULTS.withSecurity(server))
					.intercept(new AttributesInterceptor(this.seen))
					.addService(Bytes.unary((request, observer) -> {
						observer.onNext(request);
						observer.onCompleted();
					})));
			ManagedChannel channel = fixture.connect(served,
					(builder) -> builder.channelOptions(ChannelOptions.DEFAULTS.withSecurity(client)));
			StatusRuntimeException failure = Assertions.catchThrowableOfType(StatusRuntimeException.class,
					() -> Assertions
						.assertThat(ClientCalls.blockingUnaryCall(channel, Bytes.UNARY, CallOptions.DEFAULT,
								new byte[100_000]))
						.hasSize(100_000));
			return Optional.ofNullable(failure).map(StatusRuntimeException::getStatus);
		}
	}

	@Test
	void aHandlerKnowsWhoCallsOverTls() throws Exception {
		ChannelSecurity server = ChannelSecurity.NONE.withAuthenticator(TOKENS)
			.withTls(tls(TestCertificates.server(), TestCertificates.client()));
		ChannelSecurity client = withTls(ChannelSecurity.NONE.withToken(() -> bytes("a token")));
		Assertions.assertThat(call(server, client)).isEmpty();
		Assertions.assertThat(this.seen.get().get(RdmaServerBuilder.TRANSPORT_ATTR_PRINCIPAL))
			.extracting(Principal::getName)
			.isEqualTo("reports");
		Assertions.assertThat(this.seen.get().get(GrpcAttributes.ATTR_SECURITY_LEVEL))
			.isEqualTo(SecurityLevel.PRIVACY_AND_INTEGRITY);
	}

	@Test
	void nobodyIsKnownWhereNobodyIsAsked() throws Exception {
		Assertions.assertThat(call(ChannelSecurity.NONE, ChannelSecurity.NONE)).isEmpty();
		Assertions.assertThat(this.seen.get().get(RdmaServerBuilder.TRANSPORT_ATTR_PRINCIPAL)).isNull();
		Assertions.assertThat(this.seen.get().get(GrpcAttributes.ATTR_SECURITY_LEVEL)).isEqualTo(SecurityLevel.NONE);
	}

	@Test
	void withoutATokenCallsAreUnauthenticated() throws Exception {
		Status refused = call(ChannelSecurity.NONE.withAuthenticator(TOKENS), ChannelSecurity.NONE).orElseThrow();
		Assertions.assertThat(refused.getCode()).isEqualTo(Status.Code.UNAUTHENTICATED);
		Assertions.assertThat(refused.getDescription()).contains("a token is required");
		Assertions.assertThat(this.seen).hasNullValue();
	}

	@Test
	void withoutTlsCallsAreToldThatItIsRequired() throws Exception {
		ChannelSecurity server = ChannelSecurity.NONE
			.withTls(tls(TestCertificates.server(), TestCertificates.client()));
		Status refused = call(server, ChannelSecurity.NONE).orElseThrow();
		Assertions.assertThat(refused.getCode()).isEqualTo(Status.Code.UNAVAILABLE);
		Assertions.assertThat(refused.getDescription()).contains("TLS is required here");
	}

	/** Notes what is known of the connection of a call. */
	private record AttributesInterceptor(AtomicReference<Attributes> seen) implements ServerInterceptor {

		@Override
		public <ReqT, RespT> ServerCall.Listener<ReqT> interceptCall(ServerCall<ReqT, RespT> call, Metadata headers,
				ServerCallHandler<ReqT, RespT> next) {
			this.seen.set(call.getAttributes());
			return next.startCall(call, headers);
		}

	}

}
