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

import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.BiConsumer;
import java.util.function.Function;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.boot.autoconfigure.ClientSettings.Setting;
import dev.rdmarpc.boot.autoconfigure.RdmaRpcProperties.Client;
import dev.rdmarpc.boot.autoconfigure.RdmaRpcProperties.ClientMethod;
import dev.rdmarpc.rpc.MethodDescriptor;

/**
 * Where properties can set something for a method of a target: in the entry of the
 * method, in that of its service, whose name is {@value #ALL}, and in that of the client.
 * Each can be below the target or below the default entry, which comes after it.
 *
 * @param target the name of the target
 * @param properties all properties
 */
record MethodEntries(String target, RdmaRpcProperties properties) {

	/** In place of a method, for all that have no entry; no method has this name. */
	static final String ALL = "default";

	/** Passes on service and method of all entries. */
	void forEach(BiConsumer<String, String> consumer) {
		for (String entry : entries()) {
			methods(entry)
				.forEach((service, methods) -> methods.keySet().forEach((name) -> consumer.accept(service, name)));
		}
	}

	/**
	 * What is set somewhere, the nearest first.
	 * @param service the simple name, or {@code null} for what is set for no method
	 * @param method the name, or {@code null}
	 * @param setting its name
	 */
	<T> List<Source<T>> sources(@Nullable String service, @Nullable String method, String setting,
			Function<ClientMethod, @Nullable T> ofMethod, Function<Client, @Nullable T> ofClient) {
		List<Source<T>> sources = new ArrayList<>();
		if (service != null && method != null) {
			add(sources, service, method, setting, ofMethod);
			add(sources, service, ALL, setting, ofMethod);
		}
		for (String entry : entries()) {
			Client client = this.properties.client(entry);
			T value = (client != null) ? ofClient.apply(client) : null;
			if (value != null) {
				sources.add(new Source<>(nameOf(entry) + setting, value, false));
			}
		}
		return sources;
	}

	/** Rejects one of a group of settings wherever it is set for methods. */
	<G> void notOfMethods(String group, String setting, Function<ClientMethod, @Nullable G> ofMethod,
			Function<G, @Nullable Object> getter) {
		forEach((service, method) -> sources(service, method, group, ofMethod, (client) -> null).forEach((source) -> {
			Object value = getter.apply(source.value());
			if (value != null) {
				PropertyCheck.that(false, source.name() + "." + setting, value,
						"nothing here, since it is set for a target, not for a method");
			}
		}));
	}

	private <T> void add(List<Source<T>> sources, String service, String method, String setting,
			Function<ClientMethod, @Nullable T> getter) {
		for (String entry : entries()) {
			methods(entry).forEach((ofService, methods) -> methods.forEach((name, set) -> {
				T value = (isSame(ofService, service) && isSame(name, method)) ? getter.apply(set) : null;
				if (value != null) {
					sources.add(new Source<>(nameOf(entry) + "methods." + ofService + "." + name + "." + setting, value,
							!method.equals(ALL)));
				}
			}));
		}
	}

	/** Names of methods that the service does not have are misspelt. */
	void checkNames(MethodDescriptor method) {
		Class<?> type = method.javaMethod().getDeclaringClass();
		String service = serviceOf(method);
		if (!isSame(type.getSimpleName(), service)) {
			return;
		}
		Set<String> known = new LinkedHashSet<>();
		Arrays.stream(type.getMethods()).forEach((each) -> known.add(each.getName()));
		known.add(ALL);
		for (String entry : entries()) {
			methods(entry).forEach((ofService, methods) -> methods.keySet().forEach((name) -> {
				if (isSame(ofService, service) && known.stream().noneMatch((each) -> isSame(each, name))) {
					Optional<String> meant = NearMiss.of(name, known);
					PropertyCheck.that(false, nameOf(entry) + "methods." + ofService + "." + name, "…", "a method of "
							+ type.getName() + meant.map((each) -> ", such as '" + each + "'").orElse(""));
				}
			}));
		}
	}

	/** By which properties name the service of a method. */
	static String serviceOf(MethodDescriptor method) {
		return simpleName(method.service());
	}

	/** By which properties name a service. */
	static String simpleName(String service) {
		return service.substring(Math.max(service.lastIndexOf('.'), service.lastIndexOf('$')) + 1);
	}

	/** Entries, the nearest first. */
	private List<String> entries() {
		return this.target.equals(RdmaRpcProperties.DEFAULT_CLIENT) ? List.of(this.target)
				: List.of(this.target, RdmaRpcProperties.DEFAULT_CLIENT);
	}

	private Map<String, Map<String, ClientMethod>> methods(String entry) {
		Client client = this.properties.client(entry);
		return (client != null && client.methods() != null) ? client.methods() : Map.of();
	}

	private static String nameOf(String entry) {
		return "rdma.rpc.client." + entry + ".";
	}

	/** Whether two names are the same in the relaxed forms of properties. */
	static boolean isSame(String one, String other) {
		return relaxed(one).equals(relaxed(other));
	}

	/**
	 * What an environment variable has set has another form of the name than the target.
	 */
	static <T> @Nullable T find(Map<String, T> entries, String name) {
		T exactly = entries.get(name);
		return (exactly != null) ? exactly
				: entries.entrySet()
					.stream()
					.filter((entry) -> isSame(entry.getKey(), name))
					.map(Map.Entry::getValue)
					.findFirst()
					.orElse(null);
	}

	private static String relaxed(String name) {
		return name.replace("-", "").replace("_", "").toLowerCase(Locale.ROOT);
	}

	/**
	 * Finds one of a group of settings.
	 * @param group the name of the group
	 */
	static <G, T> Setting<T> find(List<Source<G>> sources, String group, String setting,
			Function<G, @Nullable T> getter, T fallback) {
		for (Source<G> source : sources) {
			T value = getter.apply(source.value());
			if (value != null) {
				return new Setting<>(source.name() + "." + setting, value);
			}
		}
		return new Setting<>(nameOf(RdmaRpcProperties.DEFAULT_CLIENT) + group + "." + setting, fallback);
	}

	/**
	 * What is set somewhere.
	 *
	 * @param <T> the type of the value
	 * @param name of the property
	 * @param value what it is set to
	 * @param ofMethod whether it is set for that very method
	 */
	record Source<T>(String name, T value, boolean ofMethod) {

	}

}
