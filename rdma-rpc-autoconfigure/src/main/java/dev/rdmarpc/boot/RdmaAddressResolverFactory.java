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

import java.time.Duration;

import dev.rdmarpc.balancing.AddressResolver;

/**
 * Makes the resolvers for one scheme of {@code rdma.rpc.client.<target>.addresses}, such
 * as {@code dns}. A bean of this type adds a scheme, or replaces the one of that name.
 */
public interface RdmaAddressResolverFactory {

	/** What comes before {@code :///}. */
	String scheme();

	/**
	 * Makes the resolver of one client, which closes it.
	 * @param location what comes after {@code :///}
	 * @param refreshInterval how often to look up the addresses again; zero for only when
	 * there is a reason to
	 * @throws IllegalArgumentException if the location is none; its message is what was
	 * expected
	 */
	AddressResolver create(String location, Duration refreshInterval);

}
