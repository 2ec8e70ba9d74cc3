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

import io.micrometer.common.docs.KeyName;
import io.micrometer.core.instrument.Meter;

/** The meters of the server: where its handlers run, and what waits. */
public enum RdmaServerMeters implements DescribedMeter {

	CALLS_ACTIVE("rdma.server.calls.active", Meter.Type.GAUGE, "calls",
			"Calls being executed, those that wait for a thread included."),

	CALLS_WAITING("rdma.server.calls.waiting", Meter.Type.GAUGE, "calls",
			"Calls that wait for a thread of the executor."),

	CALLS_DENIED("rdma.server.calls.denied", Meter.Type.COUNTER, "calls",
			"Calls refused because 'rdma.rpc.server.services' does not allow their callers to make them."),

	CALLS_LIMITED("rdma.server.calls.limited", Meter.Type.COUNTER, "calls",
			"Calls refused because of a limit of their caller: that of its calls in progress, of the size of their requests, or of the size of replies that it has not taken.") {

		@Override
		public KeyName[] getKeyNames() {
			return LimitKeyNames.values();
		}

	},

	CONNECTIONS_GIVEN_UP("rdma.server.connections.given.up", Meter.Type.COUNTER, "connections",
			"Connections given up because of what their peers did, or did not do in time; which they were is in the endpoint and in the log."),

	CONNECTIONS_REJECTED("rdma.server.connections.rejected", Meter.Type.COUNTER, "connections",
			"Connections rejected because of a limit: that of all connections, or of those of one address or one principal, or of how often one address connects.") {

		@Override
		public KeyName[] getKeyNames() {
			return LimitKeyNames.values();
		}

	},

	HANDLERS("rdma.server.handlers", Meter.Type.COUNTER, "calls",
			"Calls whose handler has begun, on the thread of a loop or on the executor.") {

		@Override
		public KeyName[] getKeyNames() {
			return PlaceKeyNames.values();
		}

	},

	HANDLERS_MOVES("rdma.server.handlers.moves", Meter.Type.COUNTER, "moves",
			"How often a method has moved to the loops because it was quick, or back to the executor because it was not.") {

		@Override
		public KeyName[] getKeyNames() {
			return PlaceKeyNames.values();
		}

	},

	THREADS("rdma.server.threads", Meter.Type.GAUGE, "threads",
			"Threads of the server's own executor, idle ones included."),

	THREADS_BUSY("rdma.server.threads.busy", Meter.Type.GAUGE, "threads",
			"Threads of the server's own executor that run a handler."),

	THREADS_MAX("rdma.server.threads.max", Meter.Type.GAUGE, "threads",
			"Threads that the server's own executor may have; 0 if it has none.");

	private final String name;

	private final Meter.Type type;

	private final String unit;

	private final String description;

	RdmaServerMeters(String name, Meter.Type type, String unit, String description) {
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

	/** Keys of {@link #HANDLERS} and {@link #HANDLERS_MOVES}. */
	public enum PlaceKeyNames implements KeyName {

		/** {@code loop} or {@code executor}. */
		PLACE;

		@Override
		public String asString() {
			return "place";
		}

	}

	/** Keys of {@link #CONNECTIONS_REJECTED} and {@link #CALLS_LIMITED}. */
	public enum LimitKeyNames implements KeyName {

		/**
		 * Of connections: {@code connections}, {@code address}, {@code principal} or
		 * {@code rate}. Of calls: {@code calls}, {@code size} or {@code replies}.
		 */
		LIMIT;

		@Override
		public String asString() {
			return "limit";
		}

	}

}
