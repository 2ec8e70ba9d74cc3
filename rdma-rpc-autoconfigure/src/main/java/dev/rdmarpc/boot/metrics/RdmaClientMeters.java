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

package dev.rdmarpc.boot.metrics;

import java.util.Locale;

import io.micrometer.common.docs.KeyName;
import io.micrometer.core.instrument.Meter;

/** The meters of the queue pairs that clients keep, each by target. */
public enum RdmaClientMeters implements DescribedMeter {

	OPEN("rdma.client.queue.pairs.open", Meter.Type.GAUGE, "queue pairs", "Queue pairs that are connected."),

	MIN("rdma.client.queue.pairs.min", Meter.Type.GAUGE, "queue pairs", "Queue pairs kept."),

	MAX("rdma.client.queue.pairs.max", Meter.Type.GAUGE, "queue pairs", "Queue pairs at most."),

	CALLS("rdma.client.queue.pairs.calls", Meter.Type.GAUGE, "calls", "Calls that wait for their reply."),

	HEALTH("rdma.client.queue.pairs.health", Meter.Type.GAUGE, "state", "1 when UP, 0.5 when DEGRADED, 0 when DOWN."),

	CONNECTS("rdma.client.queue.pairs.connects", Meter.Type.COUNTER, "connections",
			"Connections established, including reconnects."),

	GROWTHS("rdma.client.queue.pairs.growths", Meter.Type.COUNTER, "queue pairs",
			"Queue pairs added because the others were busy."),

	SHRINKS("rdma.client.queue.pairs.shrinks", Meter.Type.COUNTER, "queue pairs",
			"Added queue pairs closed because they were idle."),

	LOSSES("rdma.client.queue.pairs.losses", Meter.Type.COUNTER, "connections",
			"Connections lost after they had been established."),

	REPETITIONS("rdma.client.calls.repeated", Meter.Type.COUNTER, "calls",
			"Calls retried because their connection was lost."),

	ADDRESS_STATE("rdma.client.address.state", Meter.Type.GAUGE, "state",
			"1 when calls can go to the address, 0.5 while it gets none because too many failed, 0 without a connection.") {

		@Override
		public KeyName[] getKeyNames() {
			return AddressKeyNames.values();

		}

	},

	RETRIES("rdma.rpc.client.retries", Meter.Type.COUNTER, "retries",
			"Calls made again by rdma.rpc.client.<target>.retry, by the status of the attempt before.") {

		@Override
		public KeyName[] getKeyNames() {
			return KeyName.merge(KeyNames.values(), RetryKeyNames.values());
		}

	},

	HEDGES("rdma.rpc.client.hedges", Meter.Type.COUNTER, "attempts",
			"Further attempts of calls that had no answer after rdma.rpc.client.<target>.hedging.delay.") {

		@Override
		public KeyName[] getKeyNames() {
			return KeyName.merge(KeyNames.values(), MethodKeyNames.values());
		}

	},

	HEDGES_WON("rdma.rpc.client.hedges.won", Meter.Type.COUNTER, "calls",
			"Calls whose result is the answer of such an attempt.") {

		@Override
		public KeyName[] getKeyNames() {
			return KeyName.merge(KeyNames.values(), MethodKeyNames.values());
		}

	},

	HEDGES_SUPPRESSED("rdma.rpc.client.hedges.suppressed", Meter.Type.COUNTER, "attempts",
			"Such attempts that were not made, because rdma.rpc.client.<target>.hedging.budget was used up.") {

		@Override
		public KeyName[] getKeyNames() {
			return KeyName.merge(KeyNames.values(), MethodKeyNames.values());
		}

	};

	private final String name;

	private final Meter.Type type;

	private final String unit;

	private final String description;

	RdmaClientMeters(String name, Meter.Type type, String unit, String description) {
		this.name = name;
		this.type = type;
		this.unit = unit;
		this.description = description;
	}

	@Override
	public String getName() {
		return this.name;
	}

	@Override
	public Meter.Type getType() {
		return this.type;
	}

	@Override
	public String description() {
		return this.description;
	}

	@Override
	public String getBaseUnit() {
		return this.unit;
	}

	@Override
	public KeyName[] getKeyNames() {
		return KeyNames.values();
	}

	/** Keys of meters of one of several addresses. */
	public enum AddressKeyNames implements KeyName {

		/** The name of the target. */
		TARGET("target"),

		/** One of the addresses that the target has at present. */
		ADDRESS("address");

		private final String key;

		AddressKeyNames(String key) {
			this.key = key;
		}

		@Override
		public String asString() {
			return this.key;

		}

	}

	/** Further keys of hedges. */
	public enum MethodKeyNames implements KeyName {

		/** The service. */
		SERVICE,

		/** The method. */
		METHOD;

		@Override
		public String asString() {
			return name().toLowerCase(Locale.ROOT);
		}

	}

	/** Further keys of retries. */
	public enum RetryKeyNames implements KeyName {

		/** The service. */
		SERVICE,

		/** The method. */
		METHOD,

		/** Why the attempt before failed. */
		STATUS;

		@Override
		public String asString() {
			return name().toLowerCase(Locale.ROOT);
		}

	}

	/** Keys of all others. */
	public enum KeyNames implements KeyName {

		/** The name of the target. */
		TARGET;

		@Override
		public String asString() {
			return "target";
		}

	}

}
