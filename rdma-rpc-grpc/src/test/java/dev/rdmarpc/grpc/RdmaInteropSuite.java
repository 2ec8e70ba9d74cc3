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

import java.net.InetAddress;
import java.net.InetSocketAddress;

import io.grpc.ManagedChannelBuilder;
import io.grpc.ServerBuilder;
import io.grpc.testing.integration.AbstractInteropTest;
import io.grpc.testing.integration.ListenAddress;
import org.junit.After;
import org.junit.Before;

/**
 * gRPC's own suite for transports, run by {@link InteropTests}. Supplies the transport
 * and overrides none of its tests.
 */
public class RdmaInteropSuite extends AbstractInteropTest {

	private GrpcFixture fixture;

	/** The provider that both sides use. */
	protected String provider() {
		return "iwarp";
	}

	@Before
	@Override
	public void setUp() {
		this.fixture = new GrpcFixture(provider());
		super.setUp();
	}

	@After
	@Override
	public void tearDown() {
		super.tearDown();
		this.fixture.close();
	}

	@Override
	protected ServerBuilder<?> getServerBuilder() {
		return RdmaServerBuilder.forAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
			.transport(this.fixture.transport())
			.statsEnabled(false)
			.maxInboundMessageSize(MAX_MESSAGE_SIZE)
			.addStreamTracerFactory(createCustomCensusTracerFactory());
	}

	@Override
	protected ManagedChannelBuilder<?> createChannelBuilder() {
		return RdmaChannelBuilder.forAddress("localhost", ListenAddress.port(this))
			.transport(this.fixture.transport())
			.statsEnabled(false)
			.maxInboundMessageSize(MAX_MESSAGE_SIZE)
			.intercept(createCensusStatsClientInterceptor());
	}

}
