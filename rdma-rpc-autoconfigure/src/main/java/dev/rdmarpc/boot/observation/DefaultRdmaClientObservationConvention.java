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

import io.micrometer.common.KeyValues;

/** {@value #NAME}, tagged with service, method and status. */
public class DefaultRdmaClientObservationConvention implements RdmaClientObservationConvention {

	/** The name of the observation. */
	public static final String NAME = "rdma.rpc.client.calls";

	@Override
	public String getName() {
		return NAME;
	}

	@Override
	public String getContextualName(RdmaClientObservationContext context) {
		return context.getMethod().fullName();
	}

	@Override
	public KeyValues getLowCardinalityKeyValues(RdmaClientObservationContext context) {
		return CallKeyValues.lowCardinality(context.getMethod(), context.getStatus());
	}

	@Override
	public KeyValues getHighCardinalityKeyValues(RdmaClientObservationContext context) {
		return CallKeyValues.ofClient(context);
	}

}
