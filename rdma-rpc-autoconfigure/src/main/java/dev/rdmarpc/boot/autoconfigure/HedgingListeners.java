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

package dev.rdmarpc.boot.autoconfigure;

import org.springframework.beans.factory.ObjectProvider;

import dev.rdmarpc.rpc.HedgingListener;
import dev.rdmarpc.rpc.MethodDescriptor;

/**
 * Tells all beans of hedges. They are looked up each time, like those of retries: what
 * counts may come after the clients.
 *
 * @param beans whom to tell
 */
record HedgingListeners(ObjectProvider<HedgingListener> beans) implements HedgingListener {

	@Override
	public void hedged(String target, MethodDescriptor method, int attempt) {
		this.beans.forEach((bean) -> bean.hedged(target, method, attempt));
	}

	@Override
	public void won(String target, MethodDescriptor method, int attempt) {
		this.beans.forEach((bean) -> bean.won(target, method, attempt));
	}

	@Override
	public void suppressed(String target, MethodDescriptor method) {
		this.beans.forEach((bean) -> bean.suppressed(target, method));
	}

}
