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

import io.micrometer.common.KeyValue;
import io.micrometer.common.KeyValues;
import org.jspecify.annotations.Nullable;

import dev.rdmarpc.boot.observation.RdmaObservationDocumentation.ClientKeyNames;
import dev.rdmarpc.boot.observation.RdmaObservationDocumentation.HighCardinalityKeyNames;
import dev.rdmarpc.boot.observation.RdmaObservationDocumentation.LowCardinalityKeyNames;
import dev.rdmarpc.boot.observation.RdmaObservationDocumentation.ServerKeyNames;
import dev.rdmarpc.rpc.MethodDescriptor;
import dev.rdmarpc.rpc.RpcStatus;

/** The key values that both sides share. */
final class CallKeyValues {

	private CallKeyValues() {
	}

	static KeyValues lowCardinality(MethodDescriptor method, @Nullable RpcStatus status) {
		return KeyValues.of(LowCardinalityKeyNames.SERVICE.withValue(method.service()),
				LowCardinalityKeyNames.METHOD.withValue(method.name()),
				LowCardinalityKeyNames.STATUS.withValue((status != null) ? status.name() : KeyValue.NONE_VALUE));
	}

	static KeyValues ofServer(RdmaServerObservationContext context) {
		KeyValues values = ofBoth(context.getMethod(), context.getPeer())
			.and(ServerKeyNames.WAITED.withValue(String.valueOf(context.getWaited().toNanos() / 1_000)));
		String provider = context.getProvider();
		if (provider != null) {
			values = values.and(ServerKeyNames.PROVIDER.withValue(provider));
		}
		int number = context.getQueuePair();
		return (number != 0) ? values.and(ServerKeyNames.QUEUE_PAIR.withValue(String.valueOf(number))) : values;
	}

	private static KeyValues ofBoth(MethodDescriptor method, String peer) {
		return KeyValues.of(HighCardinalityKeyNames.PEER.withValue(peer),
				HighCardinalityKeyNames.RPC_SYSTEM.withValue("rdma-rpc"),
				HighCardinalityKeyNames.RPC_SERVICE.withValue(method.service()),
				HighCardinalityKeyNames.RPC_METHOD.withValue(method.name()));
	}

	static KeyValues ofClient(RdmaClientObservationContext context) {
		String target = context.getTarget();
		KeyValues values = ofBoth(context.getMethod(), target);
		String provider = context.getProvider();
		if (provider != null) {
			values = values.and(ClientKeyNames.PROVIDER.withValue(provider));
		}
		int number = context.getQueuePair();
		if (number != 0) {
			values = values.and(ClientKeyNames.QUEUE_PAIR.withValue(String.valueOf(number)),
					ClientKeyNames.WAITED.withValue(String.valueOf(context.getWaited().toNanos() / 1_000)),
					ClientKeyNames.SEND_CREDITS.withValue(String.valueOf(context.getSendCredits())));
		}
		long held = context.getCreditWait().toNanos() / 1_000;
		if (held > 0) {
			values = values.and(ClientKeyNames.CREDIT_WAIT.withValue(String.valueOf(held)));
		}
		PeerAddress address = PeerAddress.parse(target);
		return (address != null)
				? values.and(ClientKeyNames.SERVER_ADDRESS.withValue(address.host()),
						ClientKeyNames.SERVER_PORT.withValue(address.port()))
				: values.and(ClientKeyNames.SERVER_ADDRESS.withValue(target));
	}

}
