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

import java.lang.reflect.RecordComponent;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;

import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.bind.DataObjectPropertyName;
import org.springframework.util.ReflectionUtils;

/** Names the properties in which two states of all properties differ. */
final class ChangedProperties {

	private static final String PREFIX = "rdma.rpc";

	/** What ends the names of the properties of clients that can change at run time. */
	private static final List<String> OF_CLIENTS = List.of("deadline", "hedging.max-attempts", "hedging.delay");

	private static final String OF_SERVER = PREFIX + ".server.max-concurrent-calls";

	private final Predicate<String> ignored;

	private final Set<String> names = new TreeSet<>();

	private ChangedProperties(Predicate<String> ignored) {
		this.ignored = ignored;
	}

	/** The properties that only a restart can change. */
	static Set<String> fixed(RdmaRpcProperties before, RdmaRpcProperties after, boolean clients, boolean server) {
		ChangedProperties changed = new ChangedProperties(
				(name) -> (clients && isOfClients(name)) || (server && name.equals(OF_SERVER)));
		changed.compare(PREFIX, before, after);
		return changed.names;
	}

	private static boolean isOfClients(String name) {
		return name.startsWith(PREFIX + ".client.") && OF_CLIENTS.stream().anyMatch((end) -> name.endsWith("." + end));
	}

	private void compare(String name, @Nullable Object before, @Nullable Object after) {
		Object either = (after != null) ? after : before;
		if (either instanceof Record) {
			for (RecordComponent component : either.getClass().getRecordComponents()) {
				compare(name + "." + DataObjectPropertyName.toDashedForm(component.getName()), value(component, before),
						value(component, after));
			}
		}
		else if (either instanceof Map<?, ?>) {
			Map<?, ?> old = (before instanceof Map<?, ?> map) ? map : Map.of();
			Map<?, ?> now = (after instanceof Map<?, ?> map) ? map : Map.of();
			Set<Object> keys = new LinkedHashSet<>(old.keySet());
			keys.addAll(now.keySet());
			keys.forEach((key) -> compare(name + "." + key, old.get(key), now.get(key)));
		}
		else if (!Objects.equals(before, after) && !this.ignored.test(name)) {
			this.names.add(name);
		}
	}

	private static @Nullable Object value(RecordComponent component, @Nullable Object of) {
		return (of != null) ? ReflectionUtils.invokeMethod(component.getAccessor(), of) : null;
	}

}
