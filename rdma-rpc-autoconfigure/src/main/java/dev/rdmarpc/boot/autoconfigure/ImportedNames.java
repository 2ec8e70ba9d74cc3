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

import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.config.ConstructorArgumentValues.ValueHolder;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.core.env.Environment;

import dev.rdmarpc.boot.RdmaClients;

/**
 * Compares the targets and services of which clients are imported with those that have
 * properties: a name that is misspelt in one of the two places would send calls to the
 * default address, or leave them without their deadline.
 *
 * <p>
 * A name that is like an imported one is warned of. Of others it only tells, because
 * {@link RdmaClients} makes clients of any target and service. Those of Spring gRPC's
 * channels that lead here are known as well: they have the protection and the rails of
 * the targets of their names.
 */
final class ImportedNames {

	private static final Logger logger = LoggerFactory.getLogger(ImportedNames.class);

	private static final Bindable<Map<String, Object>> CHANNELS = Bindable.mapOf(String.class, Object.class);

	private final RdmaRpcProperties properties;

	/** By which properties name the imported services of each target. */
	private final Map<String, Set<String>> imported = new TreeMap<>();

	private final Set<String> channels = new TreeSet<>();

	ImportedNames(RdmaRpcProperties properties, ConfigurableListableBeanFactory beans, Environment environment) {
		this.properties = properties;
		for (String name : beans.getBeanDefinitionNames()) {
			add(beans.getBeanDefinition(name));
		}
		Binder.get(environment)
			.bind("spring.grpc.client.channel", CHANNELS)
			.ifBound((bound) -> bound.forEach((name, channel) -> {
				if (channel instanceof Map<?, ?> values && String.valueOf(values.get("target")).startsWith("rdma:")) {
					this.channels.add(name);
				}
			}));
	}

	/** Warns of names in properties that are like imported ones. */
	void check() {
		this.properties.client().keySet().forEach(this::checkTarget);
		this.properties.client().forEach((target, client) -> {
			if (client.methods() != null) {
				client.methods().keySet().forEach((service) -> checkService(target, service));
			}
		});
	}

	/**
	 * Whether a target is the name of a gRPC channel, and of nothing that is imported.
	 */
	boolean isChannelOnly(String target) {
		return this.channels.contains(target) && !this.imported.containsKey(target);
	}

	/** Whether a target is a known one in the form of an environment variable. */
	boolean isAnotherForm(String target) {
		Set<String> known = known();
		return !known.contains(target) && known.stream().anyMatch((name) -> MethodEntries.isSame(name, target));
	}

	private Set<String> known() {
		Set<String> known = new TreeSet<>(this.imported.keySet());
		known.addAll(this.channels);
		return known;
	}

	private void add(BeanDefinition definition) {
		if (definition.getAttribute(RdmaClients.class.getName()) instanceof String target) {
			Set<String> services = this.imported.computeIfAbsent(target, (key) -> new TreeSet<>());
			ValueHolder service = definition.getConstructorArgumentValues().getIndexedArgumentValue(2, String.class);
			if (service != null && service.getValue() instanceof String name) {
				services.add(MethodEntries.simpleName(name));
			}
		}
	}

	private void checkTarget(String target) {
		Set<String> known = known();
		if (target.equals(RdmaRpcProperties.DEFAULT_CLIENT) || known.contains(target) || isAnotherForm(target)) {
			return;
		}
		Optional<String> meant = NearMiss.of(target, known);
		boolean bare = meant.isPresent() && !this.properties.client().containsKey(meant.get());
		boolean channel = meant.isPresent() && isChannelOnly(meant.get());
		tell("rdma.rpc.client." + target, "'" + target + "'", meant,
				(channel ? ", which is a gRPC channel" : ", which is imported")
						+ (bare ? " and has no properties" : ""));
	}

	private void checkService(String target, String service) {
		Set<String> known = target.equals(RdmaRpcProperties.DEFAULT_CLIENT)
				? this.imported.values().stream().flatMap(Set::stream).collect(Collectors.toCollection(TreeSet::new))
				: this.imported.getOrDefault(target, Set.of());
		if (known.stream().anyMatch((name) -> MethodEntries.isSame(name, service))) {
			return;
		}
		tell("rdma.rpc.client." + target + ".methods." + service, "such a service", NearMiss.of(service, known), "");
	}

	private static void tell(String property, String what, Optional<String> meant, String known) {
		if (meant.isPresent()) {
			logger.warn("'{}' has properties, but no client of {} is imported. Did you mean '{}'{}?", property, what,
					meant.get(), known);
		}
		else {
			logger.info("'{}' has properties, but no client of {} is imported", property, what);
		}
	}

}
