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

import org.jspecify.annotations.Nullable;
import org.springframework.boot.autoconfigure.service.connection.ConnectionDetails;

import dev.rdmarpc.balancing.AddressResolver;
import dev.rdmarpc.balancing.FixedAddresses;

/**
 * Locates targets. By default they are where {@code rdma.rpc.client.<target>.*} says; a
 * bean of this type replaces them, for service discovery or for tests.
 */
@FunctionalInterface
public interface RdmaConnectionDetails extends ConnectionDetails {

	/**
	 * Returns the address of a target. Called for each attempt to connect, so the address
	 * may change. Must not block for long.
	 * @param target the name of the target
	 * @throws RuntimeException if it is currently unknown; the attempt fails with the
	 * message
	 */
	InetSocketAddress address(String target);

	/**
	 * Returns what knows the addresses of a target that has several, or whose addresses
	 * come and go; {@link FixedAddresses} if they are known. Called once, when the client
	 * is created; the client closes the resolver.
	 * @param target the name of the target
	 * @return {@code null} if the target has the one {@link #address}
	 */
	default @Nullable AddressResolver resolver(String target) {
		return null;
	}

}
