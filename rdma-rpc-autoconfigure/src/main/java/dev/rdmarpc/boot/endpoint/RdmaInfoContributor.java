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

package dev.rdmarpc.boot.endpoint;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.info.Info;
import org.springframework.boot.actuate.info.InfoContributor;

import dev.rdmarpc.rpc.RpcServer;
import dev.rdmarpc.transport.ProviderSelection;
import dev.rdmarpc.transport.Rail;
import dev.rdmarpc.transport.RdmaTransport;

/** Adds provider, device and the server's port to {@code info}. */
public class RdmaInfoContributor implements InfoContributor {

	private final ProviderSelection selection;

	private final Supplier<@Nullable RdmaTransport> transport;

	private final Supplier<@Nullable RpcServer> server;

	/**
	 * Creates the contributor.
	 * @param transport returns {@code null} as long as nothing has opened it
	 * @param server queried on each request, since there may be none yet
	 */
	public RdmaInfoContributor(ProviderSelection selection, Supplier<@Nullable RdmaTransport> transport,
			Supplier<@Nullable RpcServer> server) {
		this.selection = selection;
		this.transport = transport;
		this.server = server;
	}

	@Override
	public void contribute(Info.Builder builder) {
		Map<String, Object> details = new LinkedHashMap<>();
		RdmaTransport opened = this.transport.get();
		ProviderSelection used = (opened != null) ? opened.selection() : this.selection;
		details.put("provider", used.provider().name());
		details.put("reason", used.reason());
		if (opened != null) {
			details.put("device", opened.device().name());
			if (opened.rails().size() > 1) {
				details.put("rails", opened.rails().stream().map(Rail::name).toList());
			}
		}
		RpcServer current = this.server.get();
		if (current != null && current.isRunning()) {
			details.put("port", current.port());
		}
		builder.withDetail("rdma", details);
	}

}
