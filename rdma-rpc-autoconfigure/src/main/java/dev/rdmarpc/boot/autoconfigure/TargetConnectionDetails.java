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

import java.net.InetSocketAddress;
import java.util.List;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.balancing.AddressResolver;
import dev.rdmarpc.boot.RdmaConnectionDetails;
import dev.rdmarpc.boot.RdmaTargetConnectionDetails;

/**
 * Takes the addresses of targets from their own beans, and of others from one for all.
 */
class TargetConnectionDetails implements RdmaConnectionDetails {

	private final List<RdmaTargetConnectionDetails> own;

	private final RdmaConnectionDetails others;

	TargetConnectionDetails(List<RdmaTargetConnectionDetails> own, RdmaConnectionDetails others) {
		this.own = own;
		this.others = others;
	}

	@Override
	public InetSocketAddress address(String target) {
		List<RdmaTargetConnectionDetails> of = of(target);
		return of.isEmpty() ? this.others.address(target) : of.get(0).address();
	}

	@Override
	public @Nullable AddressResolver resolver(String target) {
		List<RdmaTargetConnectionDetails> of = of(target);
		if (of.isEmpty()) {
			return this.others.resolver(target);
		}
		return (of.size() == 1) ? null : () -> of.stream().map(RdmaTargetConnectionDetails::address).toList();
	}

	/** Whether the properties say where a target is. */
	boolean areProperties(String target) {
		return of(target).isEmpty() && this.others instanceof PropertiesRdmaConnectionDetails;
	}

	/** Who says where a target is, or {@code null} if no bean is for this target. */
	@Nullable String describe(String target) {
		List<RdmaTargetConnectionDetails> of = of(target);
		return of.isEmpty() ? null : of.stream().map(String::valueOf).collect(Collectors.joining(", "));
	}

	private List<RdmaTargetConnectionDetails> of(String target) {
		return this.own.stream().filter((details) -> details.locates(target)).toList();
	}

}
