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

package dev.rdmarpc.boot.observation;

import io.micrometer.common.docs.KeyName;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationConvention;
import io.micrometer.observation.docs.ObservationDocumentation;

/** The observations of calls. Timers also have Micrometer's tag {@code error}. */
public enum RdmaObservationDocumentation implements ObservationDocumentation {

	/** A call on the side that makes it, from encoding to decoding. */
	CLIENT_CALL {

		@Override
		public Class<? extends ObservationConvention<? extends Observation.Context>> getDefaultConvention() {
			return DefaultRdmaClientObservationConvention.class;
		}

		@Override
		public String getPrefix() {
			return "";
		}

		@Override
		public KeyName[] getLowCardinalityKeyNames() {
			return LowCardinalityKeyNames.values();
		}

		@Override
		public KeyName[] getHighCardinalityKeyNames() {
			return KeyName.merge(HighCardinalityKeyNames.values(), ClientKeyNames.values());
		}

	},

	/** A call on the side that serves it, from its begin to the encoded reply. */
	SERVER_CALL {

		@Override
		public Class<? extends ObservationConvention<? extends Observation.Context>> getDefaultConvention() {
			return DefaultRdmaServerObservationConvention.class;
		}

		@Override
		public String getPrefix() {
			return "";
		}

		@Override
		public KeyName[] getLowCardinalityKeyNames() {
			return LowCardinalityKeyNames.values();
		}

		@Override
		public KeyName[] getHighCardinalityKeyNames() {
			return KeyName.merge(HighCardinalityKeyNames.values(), ServerKeyNames.values());
		}

	};

	/** Keys of timers and spans. */
	public enum LowCardinalityKeyNames implements KeyName {

		/** The service's name on the wire. */
		SERVICE {

			@Override
			public String asString() {
				return "service";
			}

		},

		/** The method's name on the wire. */
		METHOD {

			@Override
			public String asString() {
				return "method";
			}

		},

		/** How the call ended: OK, DEADLINE_EXCEEDED, …; none while it is in progress. */
		STATUS {

			@Override
			public String asString() {
				return "status";
			}

		}

	}

	/** Keys of spans only. */
	public enum HighCardinalityKeyNames implements KeyName {

		/** The other side: the target called, or the caller's address. */
		PEER {

			@Override
			public String asString() {
				return "peer";
			}

		},

		/** Always rdma-rpc. */
		RPC_SYSTEM {

			@Override
			public String asString() {
				return "rpc.system";
			}

		},

		/** The service's name on the wire. */
		RPC_SERVICE {

			@Override
			public String asString() {
				return "rpc.service";
			}

		},

		/** The method's name on the wire. */
		RPC_METHOD {

			@Override
			public String asString() {
				return "rpc.method";
			}

		}

	}

	/** Keys of spans of servers only. */
	public enum ServerKeyNames implements KeyName {

		/** The provider of the verbs that the call goes over: iwarp, disni, …. */
		PROVIDER {

			@Override
			public String asString() {
				return "rdma.provider";
			}

		},

		/**
		 * The number of the queue pair that the call came over, as the endpoint shows it.
		 */
		QUEUE_PAIR {

			@Override
			public String asString() {
				return "rdma.queue_pair";
			}

		},

		/** How many microseconds the call has waited for its handler to begin. */
		WAITED {

			@Override
			public String asString() {
				return "rdma.waited_us";
			}

		}

	}

	/** Keys of spans of clients only. */
	public enum ClientKeyNames implements KeyName {

		/** The target's host, or its name. */
		SERVER_ADDRESS {

			@Override
			public String asString() {
				return "server.address";
			}

		},

		/** The provider of the verbs that the call goes over: iwarp, disni, …. */
		PROVIDER {

			@Override
			public String asString() {
				return "rdma.provider";
			}

		},

		/** The number of the queue pair that the request went out over last. */
		QUEUE_PAIR {

			@Override
			public String asString() {
				return "rdma.queue_pair";
			}

		},

		/** How many microseconds the call has waited for a connection before. */
		WAITED {

			@Override
			public String asString() {
				return "rdma.waited_us";
			}

		},

		/**
		 * How many microseconds the request has waited for credits or for room in the
		 * send queue, if it has.
		 */
		CREDIT_WAIT {

			@Override
			public String asString() {
				return "rdma.credit_wait_us";
			}

		},

		/**
		 * How many frames the peer would have taken at once when the request was handed
		 * over.
		 */
		SEND_CREDITS {

			@Override
			public String asString() {
				return "rdma.send_credits";
			}

		},

		/** The target's port, if the target is one of host and port. */
		SERVER_PORT {

			@Override
			public String asString() {
				return "server.port";
			}

		}

	}

}
