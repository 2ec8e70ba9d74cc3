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

package dev.rdmarpc;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;

import com.tngtech.archunit.core.domain.Dependency;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * How many classes of a package may form one cycle. Classes of one cycle can only be
 * understood, tested and replaced together, however small their files are.
 */
final class ClassCycles {

	private static final int LIMIT = 12;

	private ClassCycles() {
	}

	static void assertSmall(JavaClasses classes) {
		dependencies(classes).forEach((home, edges) -> {
			SortedSet<String> largest = new Components(edges).largest();
			assertThat(largest).as("classes of %s that form one cycle", home).hasSizeLessThanOrEqualTo(LIMIT);
		});
	}

	/** Per package: which of its top-level types know which others of it. */
	private static SortedMap<String, Map<String, Set<String>>> dependencies(JavaClasses classes) {
		SortedMap<String, Map<String, Set<String>>> dependencies = new TreeMap<>();
		for (JavaClass type : classes) {
			if (type.getSimpleName().equals("package-info")) {
				continue;
			}
			Set<String> known = type.getDirectDependenciesFromSelf()
				.stream()
				.map(Dependency::getTargetClass)
				.filter((target) -> target.getPackageName().equals(type.getPackageName()))
				.map(ClassCycles::topLevel)
				.collect(Collectors.toSet());
			dependencies.computeIfAbsent(type.getPackageName(), (home) -> new TreeMap<>())
				.computeIfAbsent(topLevel(type), (name) -> new TreeSet<>())
				.addAll(known);
		}
		return dependencies;
	}

	private static String topLevel(JavaClass type) {
		JavaClass base = type.getBaseComponentType();
		while (base.getEnclosingClass().isPresent()) {
			base = base.getEnclosingClass().get();
		}
		return base.getSimpleName();
	}

	/**
	 * Strongly connected components (Tarjan, 1972).
	 */
	private static final class Components {

		private final Map<String, Set<String>> edges;

		private final Map<String, Integer> numbers = new HashMap<>();

		private final Deque<String> open = new ArrayDeque<>();

		private SortedSet<String> largest = new TreeSet<>();

		Components(Map<String, Set<String>> edges) {
			this.edges = edges;
		}

		SortedSet<String> largest() {
			for (String node : this.edges.keySet()) {
				if (!this.numbers.containsKey(node)) {
					visit(node);
				}
			}
			return this.largest;
		}

		/** Returns the lowest number that can be reached among what is open. */
		private int visit(String node) {
			int number = this.numbers.size();
			this.numbers.put(node, number);
			this.open.push(node);
			int lowest = number;
			for (String next : this.edges.getOrDefault(node, Set.of())) {
				Integer seen = this.numbers.get(next);
				if (seen == null) {
					lowest = Math.min(lowest, visit(next));
				}
				else if (this.open.contains(next)) {
					lowest = Math.min(lowest, seen);
				}
			}
			if (lowest == number) {
				close(node);
			}
			return lowest;
		}

		private void close(String first) {
			SortedSet<String> component = new TreeSet<>();
			String member;
			do {
				member = this.open.pop();
				component.add(member);
			}
			while (!member.equals(first));
			if (component.size() > this.largest.size()) {
				this.largest = component;
			}
		}

	}

}
