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

import java.util.function.Supplier;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;

import dev.rdmarpc.transport.RdmaTransport;

/**
 * The transport of a bean that has it opened when it needs it first. It would be
 * destroyed before that bean, being made later, unless the bean is known to depend on it.
 *
 * @param transport to be opened
 * @param beans know what depends on what
 * @param user name of the bean
 */
record LazyTransport(ObjectProvider<RdmaTransport> transport, ConfigurableListableBeanFactory beans,
		String user) implements Supplier<RdmaTransport> {

	@Override
	public RdmaTransport get() {
		RdmaTransport opened = this.transport.getObject();
		for (String name : this.beans.getBeanNamesForType(RdmaTransport.class, true, false)) {
			this.beans.registerDependentBean(name, this.user);
		}
		return opened;
	}

}
