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

import java.util.List;

import org.springframework.boot.health.contributor.AbstractHealthIndicator;
import org.springframework.boot.health.contributor.Health;

import dev.rdmarpc.transport.Rail;
import dev.rdmarpc.transport.RdmaTransport;

/**
 * UP while the device and all loops run, otherwise DOWN with the problems. Waits for none
 * of them.
 */
public class RdmaTransportHealthIndicator extends AbstractHealthIndicator {

	private final RdmaTransport transport;

	/** Creates the indicator for a transport. */
	public RdmaTransportHealthIndicator(RdmaTransport transport) {
		super("RDMA transport health check failed");
		this.transport = transport;
	}

	@Override
	protected void doHealthCheck(Health.Builder builder) {
		List<String> problems = this.transport.problems();
		if (problems.isEmpty()) {
			builder.up();
		}
		else {
			builder.down().withDetail("problems", problems);
		}
		builder.withDetail("device", this.transport.device().name());
		if (this.transport.rails().size() > 1) {
			builder.withDetail("rails", this.transport.rails().stream().map(Rail::name).toList());
		}
	}

}
