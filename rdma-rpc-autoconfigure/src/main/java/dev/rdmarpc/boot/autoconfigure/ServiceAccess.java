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

import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

import org.springframework.beans.factory.ListableBeanFactory;

import dev.rdmarpc.boot.autoconfigure.RdmaRpcProperties.Service;
import dev.rdmarpc.rpc.RpcServer;

/** Has services called only by the principals that properties name. */
final class ServiceAccess {

	private static final String PREFIX = "rdma.rpc.server.services.";

	private ServiceAccess() {
	}

	/**
	 * Applies the properties of all services.
	 * @param authenticated whether the server asks callers who they are
	 */
	static void apply(Map<String, Service> services, RpcServer.Builder server, boolean authenticated) {
		Collection<String> offered = server.serviceNames();
		Map<String, String> keys = new HashMap<>();
		new TreeMap<>(services).forEach((key, service) -> {
			List<String> allow = service.allow();
			if (allow == null) {
				return;
			}
			String name = find(key, offered);
			String property = PREFIX + key + ".allow";
			PropertyCheck.that(authenticated, property, allow,
					"no value, because callers are not asked who they are; see 'rdma.rpc.server.tokens' and "
							+ "'rdma.rpc.server.ssl.client-auth'");
			PropertyCheck.that(!allow.isEmpty() && allow.stream().noneMatch(String::isBlank), property, allow,
					"names of principals, or *");
			String other = keys.put(name, key);
			PropertyCheck.that(other == null, property, allow,
					"no value, because '" + PREFIX + other + "' is of the same service, " + name);
			server.allow(name, new HashSet<>(allow));
		});
	}

	/**
	 * Refuses properties of services where none of their servers has them, so that nobody
	 * takes another one for protected by them.
	 * @param served by the other server
	 */
	static void checkApplied(ListableBeanFactory beans, String served) {
		if (beans.getBeanProvider(RdmaServerFactory.class).stream().anyMatch(RdmaServerFactory::hasCreated)) {
			return;
		}
		beans.getBean(RdmaRpcProperties.class)
			.server()
			.services()
			.forEach((key, service) -> PropertyCheck.that(service.allow() == null, PREFIX + key + ".allow",
					String.valueOf(service.allow()),
					"no value, because it applies to @RdmaService beans only, and not to " + served));
	}

	/** The service that a key stands for: its name, or the last part of it. */
	private static String find(String key, Collection<String> offered) {
		if (offered.contains(key)) {
			return key;
		}
		List<String> found = offered.stream().filter((name) -> plain(lastPart(name)).equals(plain(key))).toList();
		PropertyCheck.that(!found.isEmpty(), PREFIX + key, key, "the name of a service" + meant(key, offered));
		PropertyCheck.that(found.size() == 1, PREFIX + key, key,
				"the whole name of one of these services, in brackets: " + String.join(", ", found));
		return found.get(0);
	}

	private static String meant(String key, Collection<String> offered) {
		Map<String, String> names = new TreeMap<>();
		offered.forEach((name) -> {
			names.put(name, name);
			names.put(lastPart(name), name);
		});
		return NearMiss.of(key, names.keySet())
			.map((near) -> ", probably '" + near + "', which is " + names.get(near))
			.orElse(", which are " + offered.stream().sorted().toList());
	}

	private static String lastPart(String name) {
		return name.substring(Math.max(name.lastIndexOf('.'), name.lastIndexOf('$')) + 1);
	}

	private static String plain(String name) {
		return name.replace("-", "").toLowerCase(Locale.ROOT);
	}

}
