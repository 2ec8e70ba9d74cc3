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

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaMethod;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.lang.ConditionEvents;
import com.tngtech.archunit.lang.SimpleConditionEvent;
import com.tngtech.archunit.lang.syntax.ArchRuleDefinition;
import org.junit.jupiter.api.Disabled;
import org.junit.platform.commons.annotation.Testable;

/**
 * What goes for every test of the core.
 */
@AnalyzeClasses(packages = "dev.rdmarpc", importOptions = ImportOption.OnlyIncludeTests.class)
public final class TestConventionsTests {

	@ArchTest
	static final ArchRule testsAreFoundByTheirName = ArchRuleDefinition.methods()
		.that()
		.areMetaAnnotatedWith(Testable.class)
		.should(beDeclaredInAClassThatIsRun())
		.because("a test whose class is not called XTests is never run and never missed");

	@ArchTest
	static final ArchRule nothingIsDisabled = ArchRuleDefinition.noMembers()
		.should()
		.beAnnotatedWith(Disabled.class)
		.because("a test that cannot run here is an assumption with a reason; one that does not pass is a bug");

	private TestConventionsTests() {
	}

	private static ArchCondition<JavaMethod> beDeclaredInAClassThatIsRun() {
		return new ArchCondition<>("be declared in a class called XTests") {
			@Override
			public void check(JavaMethod method, ConditionEvents events) {
				JavaClass type = method.getOwner();
				while (type.getEnclosingClass().isPresent()) {
					type = type.getEnclosingClass().get();
				}
				boolean run = type.getSimpleName().endsWith("Tests");
				events.add(new SimpleConditionEvent(method, run, method.getFullName() + " is in " + type.getName()));
			}
		};
	}

}
