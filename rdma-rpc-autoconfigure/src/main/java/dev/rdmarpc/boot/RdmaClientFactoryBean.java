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

package dev.rdmarpc.boot;

import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.BeanFactoryAware;
import org.springframework.beans.factory.FactoryBean;
import org.springframework.beans.factory.InitializingBean;

/**
 * Creates the client of one service at one target, at startup, so that an unusable
 * interface is detected then.
 */
class RdmaClientFactoryBean<T> implements FactoryBean<T>, BeanFactoryAware, InitializingBean {

	private final String target;

	private final Class<T> type;

	private final String serviceName;

	private @Nullable BeanFactory beanFactory;

	private @Nullable T proxy;

	RdmaClientFactoryBean(String target, Class<T> type, String serviceName) {
		this.target = target;
		this.type = type;
		this.serviceName = serviceName;
	}

	@Override
	public void setBeanFactory(BeanFactory beanFactory) {
		this.beanFactory = beanFactory;
	}

	@Override
	public void afterPropertiesSet() {
		if (this.beanFactory == null) {
			throw new IllegalStateException("no bean factory");
		}
		RdmaClients clients = this.beanFactory.getBean(RdmaClients.class);
		this.proxy = clients.client(this.target).proxy(this.serviceName, this.type);
	}

	@Override
	public @Nullable T getObject() {
		return this.proxy;
	}

	@Override
	public Class<T> getObjectType() {
		return this.type;
	}

}
