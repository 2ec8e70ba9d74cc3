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

import java.net.InetSocketAddress;
import java.util.function.Supplier;

import org.springframework.boot.autoconfigure.service.connection.ConnectionDetails;

/**
 * Locates one server of a target, such as one in a container that was started for a test.
 * Beans of this type replace what {@link RdmaConnectionDetails} say of their targets,
 * which are the host, port and addresses of {@code rdma.rpc.client.<target>}. Several for
 * the same target are its addresses, which calls are balanced over. All other properties
 * of the target remain in force.
 */
public interface RdmaTargetConnectionDetails extends ConnectionDetails {

	/**
	 * Whether this is where a target is.
	 * @param target the name of the target
	 */
	boolean locates(String target);

	/**
	 * Returns the address. Called for each attempt to connect, but only once if the
	 * target has several; a container that is not running yet may be started meanwhile.
	 * @throws RuntimeException if it is currently unknown; the attempt fails with the
	 * message
	 */
	InetSocketAddress address();

	/**
	 * Locates a server whose address is known when it is asked for.
	 * @param target the name of the target
	 * @param address as {@link #address}
	 */
	static RdmaTargetConnectionDetails of(String target, Supplier<InetSocketAddress> address) {
		return new RdmaTargetConnectionDetails() {

			@Override
			public boolean locates(String other) {
				return other.equals(target);
			}

			@Override
			public InetSocketAddress address() {
				return address.get();
			}

			@Override
			public String toString() {
				return "connection details of '" + target + "'";
			}

		};
	}

}
