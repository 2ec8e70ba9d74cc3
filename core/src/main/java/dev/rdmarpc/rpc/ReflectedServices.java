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

package dev.rdmarpc.rpc;

import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Tells the services of a server. Schemas are printed when they are first asked for, and
 * kept: there are as many as the server has services and methods. Thread-safe.
 */
final class ReflectedServices implements RdmaReflection {

	private final List<ServiceDescriptor> services;

	private final Map<String, Service> printed = new ConcurrentHashMap<>();

	private final Map<String, MethodSchema> schemas = new ConcurrentHashMap<>();

	/**
	 * Creates the service.
	 * @param services those of the server; may be filled until the first call
	 */
	ReflectedServices(List<ServiceDescriptor> services) {
		this.services = services;
	}

	@Override
	public Services services(String after) {
		NavigableMap<String, ServiceDescriptor> all = new TreeMap<>();
		this.services.forEach((service) -> all.put(service.name(), service));
		List<String> greater = List.copyOf(all.tailMap((after != null) ? after : "", false).keySet());
		boolean more = greater.size() > PAGE;
		return new Services(more ? greater.subList(0, PAGE) : greater, more);
	}

	@Override
	public Service service(String name) {
		ServiceDescriptor found = find(name);
		return this.printed.computeIfAbsent(found.name(), (key) -> print(found));
	}

	private static Service print(ServiceDescriptor service) {
		String schema = service.printedSchema();
		return new Service(service.name(), service.methods().stream().map(ReflectedServices::describe).toList(),
				(schema != null) ? schema : "");
	}

	@Override
	public MethodSchema method(String service, String name) {
		MethodDescriptor found = find(service).methods()
			.stream()
			.filter((method) -> method.name().equals(name))
			.findFirst()
			.orElseThrow(() -> new RpcException(RpcStatus.NOT_FOUND, service + " has no method " + name));
		return this.schemas.computeIfAbsent(found.fullName(), (key) -> print(found));
	}

	private static MethodSchema print(MethodDescriptor method) {
		String schema = method.printedSchema();
		String types = method.schema();
		return new MethodSchema(describe(method), (schema != null) ? schema : "", (types != null) ? types : "");
	}

	private static Method describe(MethodDescriptor method) {
		return new Method(method.name(), method.argumentCount(), method.streaming(), method.consuming(),
				method.oneWay(), method.idempotent());
	}

	private ServiceDescriptor find(String name) {
		return this.services.stream()
			.filter((service) -> service.name().equals(name))
			.findFirst()
			.orElseThrow(() -> new RpcException(RpcStatus.NOT_FOUND, "there is no service " + name));
	}

}
