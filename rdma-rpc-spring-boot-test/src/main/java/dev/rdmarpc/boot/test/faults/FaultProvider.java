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

package dev.rdmarpc.boot.test.faults;

import java.util.List;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.verbs.ProviderAvailability;
import dev.rdmarpc.verbs.VerbsDevice;
import dev.rdmarpc.verbs.VerbsProvider;

/**
 * A provider whose devices have faults. Otherwise, and by its name, it is another one.
 */
final class FaultProvider implements VerbsProvider {

	private final VerbsProvider real;

	private final RdmaFaults faults;

	FaultProvider(VerbsProvider real, RdmaFaults faults) {
		this.real = real;
		this.faults = faults;
	}

	@Override
	public String name() {
		return this.real.name();
	}

	@Override
	public int preference() {
		return this.real.preference();
	}

	@Override
	public boolean reachesOtherHosts() {
		return this.real.reachesOtherHosts();
	}

	@Override
	public ProviderAvailability availability() {
		return this.real.availability();
	}

	@Override
	public List<String> deviceNames() {
		return this.real.deviceNames();
	}

	@Override
	public VerbsDevice openDevice(@Nullable String name) {
		return new FaultDevice(this.real.openDevice(name), this.faults);
	}

}
