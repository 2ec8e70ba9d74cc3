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

package dev.rdmarpc.verbs.disni;

import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.junit.ArchTests;

import dev.rdmarpc.ArchitectureTests;

/** The rules of the core, for the classes of this module. */
@AnalyzeClasses(packages = "dev.rdmarpc.verbs.disni", importOptions = ImportOption.DoNotIncludeTests.class)
final class DisniArchitectureTests {

	@ArchTest
	static final ArchTests architecture = ArchTests.in(ArchitectureTests.class);

	private DisniArchitectureTests() {
	}

}
