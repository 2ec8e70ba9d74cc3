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

package dev.rdmarpc.benchmarks.workloads;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;

/** The processes of all frameworks of a run, of which one fleet works at a time. */
final class Fleets implements AutoCloseable {

	private final Map<String, Fleet> fleets = new LinkedHashMap<>();

	/** Starts the processes and stops them. */
	Fleets(List<String> peers, int servers, int clients, Path logs) throws IOException {
		try {
			for (String peer : peers) {
				Fleet fleet = Fleet.start(peer, servers, clients, logs);
				this.fleets.put(peer, fleet);
				fleet.stop(true);
			}
		}
		catch (IOException | RuntimeException ex) {
			close();
			throw ex;
		}
	}

	/**
	 * Has each fleet do something, one after the other.
	 * @param round begins with another fleet in each
	 */
	void each(int round, BiConsumer<String, Fleet> work) {
		List<String> peers = new ArrayList<>(this.fleets.keySet());
		for (int i = 0; i < peers.size(); i++) {
			String peer = peers.get((i + round) % peers.size());
			Fleet fleet = this.fleets.get(peer);
			if (fleet != null) {
				fleet.stop(false);
				try {
					work.accept(peer, fleet);
				}
				finally {
					fleet.stop(true);
				}
			}
		}
	}

	@Override
	public void close() {
		this.fleets.values().forEach((fleet) -> {
			fleet.stop(false);
			fleet.close();
		});
	}

}
