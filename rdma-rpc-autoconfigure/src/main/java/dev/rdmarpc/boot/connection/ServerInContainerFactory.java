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

package dev.rdmarpc.boot.connection;

import java.net.InetSocketAddress;

import org.springframework.boot.autoconfigure.service.connection.ConnectionDetails;
import org.springframework.boot.testcontainers.service.connection.ContainerConnectionDetailsFactory;
import org.springframework.boot.testcontainers.service.connection.ContainerConnectionSource;
import org.testcontainers.containers.Container;

import dev.rdmarpc.boot.RdmaTargetConnectionDetails;

/**
 * Makes details of containers whose type is not the one under which they are registered.
 *
 * @param <D> the type under which Boot registers them
 */
abstract class ServerInContainerFactory<D extends ConnectionDetails>
		extends ContainerConnectionDetailsFactory<Container<?>, D> {

	@Override
	protected boolean sourceAccepts(ContainerConnectionSource<Container<?>> source, Class<?> requiredContainerType,
			Class<?> requiredConnectionDetailsType) {
		return source.getConnectionDetailsTypes().contains(RdmaTargetConnectionDetails.class);
	}

	@Override
	@SuppressWarnings("unchecked") // Boot only knows that they are connection details
	protected D getContainerConnectionDetails(ContainerConnectionSource<Container<?>> source) {
		return (D) (ConnectionDetails) new ServerInContainer(source);
	}

	/** The details of one container. */
	private static final class ServerInContainer extends ContainerConnectionDetails<Container<?>>
			implements RdmaTargetConnectionDetails {

		private final ContainerConnectionSource<Container<?>> source;

		ServerInContainer(ContainerConnectionSource<Container<?>> source) {
			super(source);
			this.source = source;
		}

		/** Names are compared as Boot does, in any case. */
		@Override
		public boolean locates(String target) {
			return this.source.accepts(target, Container.class, RdmaTargetConnectionDetails.class);
		}

		@Override
		public InetSocketAddress address() {
			Container<?> container = getContainer();
			int port = ServerPorts.choose(container.getExposedPorts(), "the container of " + getOrigin());
			return new InetSocketAddress(container.getHost(), container.getMappedPort(port));
		}

		@Override
		public String toString() {
			return "@ServiceConnection of " + getOrigin();
		}

	}

}
