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

package dev.rdmarpc.transport;

import java.net.InetSocketAddress;

import org.jspecify.annotations.Nullable;

/**
 * Whether a server can be reached over a rail.
 *
 * @param name of the rail
 * @param address listened on, with the actual port, or {@code null} if it does not listen
 * @param problem why it does not, or an empty string
 */
public record ListeningRail(String name, @Nullable InetSocketAddress address, String problem) {

	/** Whether it listens. */
	public boolean isListening() {
		return this.address != null;
	}

	/** What it says in a log. */
	@Override
	public String toString() {
		return (this.address != null) ? this.name + " on " + this.address
				: this.name + " not at all (" + this.problem + ")";
	}

}
