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

import java.util.LinkedHashSet;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;

import dev.rdmarpc.boot.RdmaClients;

/**
 * Compares the targets that clients are imported of with those that have properties: a
 * name that is misspelt in one of the two places would send calls to the default address.
 */
final class TargetNames {

	private static final Logger logger = LoggerFactory.getLogger(TargetNames.class);

	private TargetNames() {
	}

	/**
	 * Warns of a target that has properties and no imported client, if an imported one
	 * has a similar name; else only tells of it, because {@link RdmaClients} makes
	 * clients of any target.
	 */
	static void check(RdmaRpcProperties properties, ConfigurableListableBeanFactory beans) {
		Set<String> unused = new TreeSet<>(properties.client().keySet());
		unused.remove(RdmaRpcProperties.DEFAULT_CLIENT);
		Set<String> imported = imported(beans);
		unused.removeAll(imported);
		for (String target : unused) {
			Optional<String> meant = NearMiss.of(target, imported);
			if (meant.isPresent()) {
				logger.warn(
						"'rdma.rpc.client.{}' has properties, but no client of '{}' is imported. Did you mean '{}'"
								+ ", which is imported{}?",
						target, target, meant.get(),
						properties.client().containsKey(meant.get()) ? "" : " and has no properties");
			}
			else {
				logger.info("'rdma.rpc.client.{}' has properties, but no client of '{}' is imported", target, target);
			}
		}
	}

	private static Set<String> imported(ConfigurableListableBeanFactory beans) {
		Set<String> targets = new LinkedHashSet<>();
		for (String name : beans.getBeanDefinitionNames()) {
			BeanDefinition definition = beans.getBeanDefinition(name);
			if (definition.getAttribute(RdmaClients.class.getName()) instanceof String target) {
				targets.add(target);
			}
		}
		return targets;
	}

}
