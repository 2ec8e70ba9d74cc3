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

package dev.rdmarpc.boot.health;

import org.springframework.boot.health.contributor.AbstractHealthIndicator;
import org.springframework.boot.health.contributor.Health;

import dev.rdmarpc.rpc.RpcServer;

/**
 * UP while the server listens, DOWN while all its handlers block, OUT_OF_SERVICE before
 * and after.
 */
public class RdmaServerHealthIndicator extends AbstractHealthIndicator {

	private final RpcServer server;

	/** Creates the indicator for a server. */
	public RdmaServerHealthIndicator(RpcServer server) {
		super("RDMA server health check failed");
		this.server = server;
	}

	@Override
	protected void doHealthCheck(Health.Builder builder) {
		if (this.server.isRunning()) {
			builder.up().withDetail("address", this.server.address().toString());
			String problem = this.server.problem();
			if (problem != null) {
				builder.down().withDetail("problem", problem);
			}
		}
		else {
			builder.outOfService();
		}
		builder.withDetail("activeCalls", this.server.activeCalls());
	}

}
