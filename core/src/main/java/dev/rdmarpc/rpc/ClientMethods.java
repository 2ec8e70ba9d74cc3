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

package dev.rdmarpc.rpc;

import java.util.ArrayList;
import java.util.List;

/**
 * The methods of a client's proxies whose schemas servers are asked about, each once. New
 * ones are added at the end, and none goes. Thread-safe.
 */
final class ClientMethods {

	private volatile List<MethodDescriptor> all = List.of();

	/** Adds those of a proxy. */
	synchronized void add(ServiceDescriptor service) {
		List<MethodDescriptor> more = new ArrayList<>(this.all);
		for (MethodDescriptor method : service.methods()) {
			if (method.schema() != null && more.stream().noneMatch(method::hasSchemaOf)) {
				more.add(method);
			}
		}
		this.all = List.copyOf(more);
	}

	/** All of them now. */
	List<MethodDescriptor> all() {
		return this.all;
	}

}
