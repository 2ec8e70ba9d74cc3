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

import java.io.IOException;
import java.time.Duration;

import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.grpc.server.lifecycle.GrpcServerLifecycle;

import dev.rdmarpc.verbs.VerbsException;

/**
 * Starts and drains our gRPC server together with Boot's. Its events are not published:
 * those who listen take their port for the one of HTTP/2.
 */
class RdmaGrpcServerLifecycle extends GrpcServerLifecycle {

	/** The property that holds the server's port. */
	static final String LOCAL_PORT_PROPERTY = "local.rdma.grpc.port";

	private final RdmaGrpcServerFactory factory;

	private final ConfigurableApplicationContext context;

	RdmaGrpcServerLifecycle(RdmaGrpcServerFactory factory, Duration gracePeriod,
			ConfigurableApplicationContext context) {
		super(factory, gracePeriod, (event) -> {
		});
		this.factory = factory;
		this.context = context;
	}

	@Override
	protected void createAndStartGrpcServer() throws IOException {
		ServiceAccess.checkApplied(this.context, "services of gRPC");
		try {
			super.createAndStartGrpcServer();
		}
		catch (IOException ex) {
			if (ex.getCause() instanceof VerbsException reason) {
				throw new RdmaServerStartException("rdma.rpc.grpc.server", this.factory.listenAddress(), reason);
			}
			throw ex;
		}
		RdmaServerLifecycle.publishPort(this.context, LOCAL_PORT_PROPERTY, getPort());
	}

	/** Drains in the background, in parallel with other beans of the same phase. */
	@Override
	public void stop(Runnable callback) {
		new Thread(() -> super.stop(callback), "rdma-rpc-grpc-shutdown").start();
	}

}
