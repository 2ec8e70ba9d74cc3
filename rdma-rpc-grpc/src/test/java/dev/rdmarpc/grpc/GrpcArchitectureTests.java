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

package dev.rdmarpc.grpc;

import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.lang.syntax.ArchRuleDefinition;

/** What the transport for gRPC may know of the core. */
@AnalyzeClasses(packages = "dev.rdmarpc.grpc", importOptions = ImportOption.DoNotIncludeTests.class)
final class GrpcArchitectureTests {

	@ArchTest
	static final ArchRule grpcStandsBesideRpc = ArchRuleDefinition.noClasses()
		.that()
		.resideInAPackage("dev.rdmarpc.grpc")
		.should()
		.dependOnClassesThat()
		.resideInAnyPackage("dev.rdmarpc.rpc..", "dev.rdmarpc.flatbuffers..", "dev.rdmarpc.verbs.support..",
				"dev.rdmarpc.verbs.iwarp..", "org.springframework..", "io.netty..")
		.because("it uses channels as rpc does, and neither providers nor frameworks");

	private GrpcArchitectureTests() {
	}

}
