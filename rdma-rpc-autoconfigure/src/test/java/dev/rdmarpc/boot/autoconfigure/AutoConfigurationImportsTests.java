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
import java.util.List;
import java.util.Map;

import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.context.annotation.ImportCandidates;
import org.springframework.context.annotation.ClassPathScanningCandidateComponentProvider;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.core.type.filter.AnnotationTypeFilter;
import org.springframework.util.ClassUtils;

import static org.assertj.core.api.Assertions.assertThat;

/** The auto-configurations are registered, and ordered against ones that exist. */
class AutoConfigurationImportsTests {

	@Test
	void everyAutoConfigurationIsRegistered() {
		List<String> registered = new ArrayList<>();
		ImportCandidates.load(AutoConfiguration.class, getClass().getClassLoader())
			.forEach((name) -> registered.add(name));
		assertThat(registered).filteredOn((name) -> name.startsWith("dev.rdmarpc."))
			.containsExactlyInAnyOrderElementsOf(autoConfigurations())
			.hasSizeGreaterThan(5)
			.isSorted();
	}

	@Test
	void everyOtherThatOrderDependsOnExists() throws Exception {
		for (String name : autoConfigurations()) {
			Map<String, Object> attributes = AnnotatedElementUtils
				.findMergedAnnotationAttributes(ClassUtils.forName(name, null), AutoConfiguration.class, true, false);
			for (String attribute : List.of("before", "beforeName", "after", "afterName")) {
				for (String other : (String[]) attributes.get(attribute)) {
					assertThat(ClassUtils.isPresent(other, null)).as("%s of %s: %s", attribute, name, other).isTrue();
				}
			}
		}
	}

	private static List<String> autoConfigurations() {
		ClassPathScanningCandidateComponentProvider scanner = new ClassPathScanningCandidateComponentProvider(false);
		scanner.addIncludeFilter(new AnnotationTypeFilter(AutoConfiguration.class));
		return scanner.findCandidateComponents("dev.rdmarpc").stream().map(BeanDefinition::getBeanClassName).toList();
	}

}
