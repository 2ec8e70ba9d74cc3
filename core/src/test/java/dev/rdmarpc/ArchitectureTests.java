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

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaPackage;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.lang.ConditionEvents;
import com.tngtech.archunit.lang.SimpleConditionEvent;
import com.tngtech.archunit.lang.syntax.ArchRuleDefinition;
import com.tngtech.archunit.library.dependencies.SlicesRuleDefinition;
import org.jspecify.annotations.NullMarked;

/**
 * The arrow of {@code docs/architecture.md}: who may know whom in the core. A package
 * that does not exist yet satisfies its rule; one that no rule names fails.
 */
@AnalyzeClasses(packages = "dev.rdmarpc", importOptions = ImportOption.DoNotIncludeTests.class)
public final class ArchitectureTests {

	private static final String LOGGING = "dev.rdmarpc.logging";

	private static final String VERBS = "dev.rdmarpc.verbs";

	private static final String SUPPORT = "dev.rdmarpc.verbs.support";

	private static final String IWARP = "dev.rdmarpc.verbs.iwarp..";

	private static final String IWARP_WIRE = "dev.rdmarpc.verbs.iwarp.wire";

	private static final String IWARP_RDMAP = "dev.rdmarpc.verbs.iwarp.rdmap";

	private static final String DISNI = "dev.rdmarpc.verbs.disni..";

	private static final String SHM = "dev.rdmarpc.verbs.shm..";

	private static final String SHM_RING = "dev.rdmarpc.verbs.shm.ring";

	private static final String MEMORY = "dev.rdmarpc.memory..";

	private static final String CODEC = "dev.rdmarpc.codec..";

	private static final String FLATBUFFERS = "dev.rdmarpc.flatbuffers..";

	private static final String TRANSPORT = "dev.rdmarpc.transport..";

	private static final String BALANCING = "dev.rdmarpc.balancing";

	private static final String RPC = "dev.rdmarpc.rpc..";

	@ArchTest
	static final ArchRule everyClassHasItsPlace = ArchRuleDefinition.classes()
		.should()
		.resideInAnyPackage(LOGGING, VERBS, SUPPORT, IWARP, DISNI, SHM, MEMORY, CODEC, FLATBUFFERS, TRANSPORT,
				BALANCING, RPC)
		.because("a package outside the map has no rule that says what it may know");

	@ArchTest
	static final ArchRule loggingKnowsNobody = knowsOnly(LOGGING)
		.because("whatever writes log lines may use it, so it knows none of them");

	@ArchTest
	static final ArchRule verbsKnowNobody = knowsOnly(VERBS).because("the SPI is what every other part is built on");

	@ArchTest
	static final ArchRule supportKnowsTheVerbs = knowsOnly(SUPPORT, VERBS)
		.because("what providers share must suit any of them, so it knows the SPI and none of them");

	@ArchTest
	static final ArchRule iwarpKnowsTheVerbs = knowsOnly(IWARP, VERBS, SUPPORT)
		.because("a provider must be replaceable by any other, so it knows the SPI and no sibling");

	@ArchTest
	static final ArchRule iwarpWireKnowsTheVerbs = knowsOnly(IWARP_WIRE, VERBS)
		.because("bytes are read and written the same way whoever asks for it");

	@ArchTest
	static final ArchRule iwarpRdmapKnowsTheWire = knowsOnly(IWARP_RDMAP, IWARP_WIRE, VERBS, SUPPORT)
		.because("the protocol is the same on any stream, and can be tested without a socket");

	@ArchTest
	static final ArchRule iwarpRdmapKnowsNoSockets = ArchRuleDefinition.noClasses()
		.that()
		.resideInAPackage(IWARP_RDMAP)
		.should()
		.dependOnClassesThat()
		.haveNameMatching("java\\.net\\..*|java\\.nio\\.channels\\..*(Socket|Selector|SelectionKey).*")
		.because("the protocol is the same on any stream, and can be tested without a socket");

	@ArchTest
	static final ArchRule iwarpNamesTheSocketOnce = ArchRuleDefinition.noClasses()
		.that()
		.resideInAPackage(IWARP)
		.and()
		.doNotHaveSimpleName("TcpStream")
		.should()
		.dependOnClassesThat()
		.haveFullyQualifiedName("java.nio.channels.SocketChannel")
		.because("what is under MPA can be replaced, by TLS for example");

	@ArchTest
	static final ArchRule iwarpKeepsItsPartsToItself = ArchRuleDefinition.noClasses()
		.that()
		.resideOutsideOfPackage(IWARP)
		.should()
		.dependOnClassesThat()
		.resideInAnyPackage(IWARP_WIRE, IWARP_RDMAP)
		.because("the types of these packages are public for each other only");

	@ArchTest
	static final ArchRule disniKnowsTheVerbs = knowsOnly(DISNI, VERBS, SUPPORT)
		.because("a provider must be replaceable by any other, so it knows the SPI and no sibling");

	@ArchTest
	static final ArchRule sharedMemoryKnowsTheVerbs = knowsOnly(SHM, VERBS, SUPPORT)
		.because("a provider must be replaceable by any other, so it knows the SPI and no sibling");

	@ArchTest
	static final ArchRule sharedMemoryRingsKnowTheVerbs = knowsOnly(SHM_RING, VERBS, SUPPORT)
		.because("what is exchanged in memory does not depend on how the sides have met");

	@ArchTest
	static final ArchRule sharedMemoryRingsKnowNoSockets = ArchRuleDefinition.noClasses()
		.that()
		.resideInAPackage(SHM_RING)
		.should()
		.dependOnClassesThat()
		.haveNameMatching("java\\.net\\..*|java\\.nio\\.channels\\..*")
		.because("rings can be tested, and attacked, in any memory");

	@ArchTest
	static final ArchRule memoryKnowsTheVerbs = knowsOnly(MEMORY, VERBS)
		.because("the allocator registers with any device and does not care what is stored in it");

	@ArchTest
	static final ArchRule codecKnowsMemoryAndVerbs = knowsOnly(CODEC, MEMORY, VERBS)
		.because("a message is a list of pieces of memory, whoever carries it");

	@ArchTest
	static final ArchRule flatbuffersKnowTheCodecSpi = knowsOnly(FLATBUFFERS, CODEC, MEMORY, VERBS)
		.because("FlatBuffers is one codec among possible others");

	@ArchTest
	static final ArchRule transportKnowsWhatItCarries = knowsOnly(TRANSPORT, CODEC, MEMORY, VERBS)
		.because("the transport moves segments of messages and knows neither their format nor who calls");

	@ArchTest
	static final ArchRule balancingKnowsNobody = knowsOnly(BALANCING)
		.because("which address a call goes to can be decided, and tested, without a connection");

	@ArchTest
	static final ArchRule rpcIsOnTop = knowsOnly(RPC, BALANCING, TRANSPORT, FLATBUFFERS, CODEC, MEMORY, VERBS)
		.because("providers are found by the service loader; naming one would make the others second class");

	@ArchTest
	static final ArchRule noCycles = SlicesRuleDefinition.slices()
		.matching("dev.rdmarpc.(**)")
		.should()
		.beFreeOfCycles()
		.because("what cannot be understood alone cannot be tested alone");

	@ArchTest
	static final ArchRule noFrameworkInTheCore = ArchRuleDefinition.noClasses()
		.should()
		.dependOnClassesThat()
		.resideInAnyPackage("org.springframework..", "jakarta..", "io.micrometer..", "io.netty..", "io.grpc..")
		.because("the core works without Spring; what belongs to Spring Boot lies in the auto-configuration");

	@ArchTest
	static final ArchRule oneUserOfTheFlatBuffersRuntime = ArchRuleDefinition.noClasses()
		.that()
		.resideOutsideOfPackage(FLATBUFFERS)
		.should()
		.dependOnClassesThat()
		.resideInAPackage("com.google.flatbuffers..")
		.because("the format of messages is the matter of one package");

	@ArchTest
	static final ArchRule noJavaSerialization = ArchRuleDefinition.noClasses()
		.should()
		.dependOnClassesThat()
		.haveNameMatching("java\\.io\\.(ObjectInput|ObjectOutput|Externalizable|Serializable).*")
		.because("deserializing what a peer sends executes what a peer sends");

	@ArchTest
	static final ArchRule noInternalsOfTheJdk = ArchRuleDefinition.noClasses()
		.should()
		.dependOnClassesThat()
		.resideInAnyPackage("sun..", "com.sun..", "jdk.internal..")
		.because("adding the starter is enough on Java 17 to 25: no JVM flags");

	@ArchTest
	static final ArchRule everyPackageIsNullMarked = ArchRuleDefinition.classes()
		.should(resideInANullMarkedPackage())
		.because("nullness is only checked in packages that opt in");

	private ArchitectureTests() {
	}

	@ArchTest
	static void cyclesAreSmall(JavaClasses classes) {
		ClassCycles.assertSmall(classes);
	}

	private static ArchRule knowsOnly(String who, String... whom) {
		DescribedPredicate<JavaClass> foreign = JavaClass.Predicates.resideOutsideOfPackage("dev.rdmarpc..");
		String[] allowed = new String[whom.length + 2];
		System.arraycopy(whom, 0, allowed, 2, whom.length);
		allowed[0] = who;
		allowed[1] = LOGGING;
		return ArchRuleDefinition.classes()
			.that()
			.resideInAPackage(who)
			.should()
			.onlyDependOnClassesThat(foreign.or(JavaClass.Predicates.resideInAnyPackage(allowed)))
			.allowEmptyShould(true);
	}

	private static ArchCondition<JavaClass> resideInANullMarkedPackage() {
		return new ArchCondition<>("reside in a package with @NullMarked") {
			@Override
			public void check(JavaClass type, ConditionEvents events) {
				JavaPackage home = type.getPackage();
				boolean marked = home.tryGetPackageInfo()
					.map((info) -> info.isAnnotatedWith(NullMarked.class))
					.orElse(false);
				events.add(new SimpleConditionEvent(type, marked, type.getName() + " is in " + home.getName()));
			}
		};
	}

}
