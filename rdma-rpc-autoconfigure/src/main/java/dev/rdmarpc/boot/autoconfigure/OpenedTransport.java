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

import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.HierarchicalBeanFactory;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.config.SingletonBeanRegistry;

import dev.rdmarpc.transport.RdmaTransport;

/**
 * The transport of a context or its parents if something has opened it already: whoever
 * only looks at it does not open it.
 */
final class OpenedTransport implements Supplier<@Nullable RdmaTransport> {

	private final BeanFactory beans;

	OpenedTransport(BeanFactory beans) {
		this.beans = beans;
	}

	@Override
	public @Nullable RdmaTransport get() {
		@Nullable BeanFactory searched = this.beans;
		while (searched != null) {
			if (searched instanceof ListableBeanFactory listable
					&& searched instanceof SingletonBeanRegistry singletons) {
				for (String name : listable.getBeanNamesForType(RdmaTransport.class, false, false)) {
					if (singletons.getSingleton(name) instanceof RdmaTransport opened) {
						return opened;
					}
				}
			}
			searched = (searched instanceof HierarchicalBeanFactory child) ? child.getParentBeanFactory() : null;
		}
		return null;
	}

}
