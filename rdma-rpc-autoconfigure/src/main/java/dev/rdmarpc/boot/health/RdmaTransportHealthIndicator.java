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

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import org.springframework.boot.health.contributor.AbstractHealthIndicator;
import org.springframework.boot.health.contributor.Health;

import dev.rdmarpc.transport.Rail;
import dev.rdmarpc.transport.RdmaTransport;

/**
 * UP while all loops run and there is a rail whose device runs and which reaches other
 * hosts, otherwise DOWN with the problems. Names the rails that are down in any case.
 * Waits for none of them.
 */
public class RdmaTransportHealthIndicator extends AbstractHealthIndicator {

	private final RdmaTransport transport;

	/** Creates the indicator for a transport. */
	public RdmaTransportHealthIndicator(RdmaTransport transport) {
		super("RDMA transport health check failed");
		this.transport = transport;
	}

	private static void addIfDown(Map<String, String> down, Rail rail) {
		String problem = rail.problem();
		if (problem != null) {
			down.put(rail.name(), problem);
		}
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
		Map<String, String> down = new LinkedHashMap<>();
		this.transport.rails().forEach((rail) -> addIfDown(down, rail));
		if (!down.isEmpty()) {
			builder.withDetail("railsDown", down);
		}
	}

}
