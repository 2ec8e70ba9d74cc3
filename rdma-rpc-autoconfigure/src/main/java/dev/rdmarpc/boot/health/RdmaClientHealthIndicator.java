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
import org.springframework.boot.health.contributor.Status;

import dev.rdmarpc.rpc.AddressHealth;
import dev.rdmarpc.rpc.ConnectionState;
import dev.rdmarpc.rpc.RpcClient;

/**
 * Reports whether a target can be called. While no connection to it can be established, a
 * required target is DOWN. Any other is UNKNOWN, because it should not take the
 * application out of service. While only some of its queue pairs are lost, a target is
 * {@link #DEGRADED}. One with several addresses is UP while one of them works.
 */
public class RdmaClientHealthIndicator extends AbstractHealthIndicator {

	/** Fewer queue pairs work than the minimum. */
	public static final Status DEGRADED = new Status("DEGRADED", "some queue pairs are lost");

	private final RpcClient client;

	private final boolean required;

	/** Creates the indicator for a client. */
	public RdmaClientHealthIndicator(RpcClient client, boolean required) {
		super("RDMA client health check failed");
		this.client = client;
		this.required = required;
	}

	@Override
	protected void doHealthCheck(Health.Builder builder) {
		ConnectionState state = this.client.state();
		String failure = this.client.lastFailure();
		if (state == ConnectionState.CLOSED) {
			builder.outOfService();
		}
		else {
			switch (this.client.metrics().health()) {
				case UP -> ready(builder, state);
				case DEGRADED -> builder.status(DEGRADED);
				case DOWN -> missing(builder);
			}
		}
		builder.withDetail("state", state);
		if (!failure.isEmpty()) {
			builder.withDetail("lastFailure", failure);
		}
		builder.withDetail("required", this.required);
		List<AddressHealth> addresses = this.client.addresses();
		if (addresses.size() > 1) {
			Map<String, String> details = new LinkedHashMap<>();
			addresses.forEach((address) -> details.put(address.address(), describe(address)));
			builder.withDetail("addresses", details);
		}
		long ready = this.client.queuePairs().stream().filter((pair) -> pair.state() == ConnectionState.READY).count();
		builder.withDetail("queuePairs", ready + " of " + this.client.queuePairs().size());
	}

	private static String describe(AddressHealth address) {
		String more = address.ejected() ? "gets no calls for a while"
				: (address.state() != ConnectionState.READY) ? address.lastFailure() : "";
		return address.state() + (more.isEmpty() ? "" : ": " + more);
	}

	/** Nothing has failed, perhaps because nothing was tried. */
	private static void ready(Health.Builder builder, ConnectionState state) {
		if (state == ConnectionState.READY) {
			builder.up();
		}
		else {
			builder.unknown();
		}
	}

	private void missing(Health.Builder builder) {
		if (this.required) {
			builder.down();
		}
		else {
			builder.unknown();
		}
	}

}
