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

import java.util.List;

import org.jspecify.annotations.Nullable;
import org.springframework.aot.hint.ExecutableMode;
import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;
import org.springframework.aot.hint.TypeReference;
import org.springframework.core.ResolvableType;
import org.springframework.util.ClassUtils;

import dev.rdmarpc.rpc.FieldViolations;
import dev.rdmarpc.rpc.RdmaReflection;

/** What a native image has to know whatever the application serves and calls. */
class RdmaRuntimeHints implements RuntimeHintsRegistrar {

	@Override
	public void registerHints(RuntimeHints hints, @Nullable ClassLoader classLoader) {
		ContractHints contracts = new ContractHints(hints);
		contracts.message(ResolvableType.forClass(FieldViolations.class));
		contracts.client(RdmaReflection.class);
		contracts.client(ClassUtils.resolveClassName("dev.rdmarpc.rpc.GenericCall", classLoader));
		// Methods of services are told from those of all objects by looking these up
		hints.reflection().registerType(Object.class, MemberCategory.INVOKE_PUBLIC_METHODS);
		// Virtual threads are made by reflection, because Java 17 has none
		hints.reflection()
			.registerType(Thread.class, (type) -> type.withMethod("ofVirtual", List.of(), ExecutableMode.INVOKE))
			.registerType(TypeReference.of("java.lang.Thread$Builder"), MemberCategory.INVOKE_PUBLIC_METHODS);
		// What has changed in properties is found by comparing them
		properties(hints, RdmaRpcProperties.class);
		hints.resources().registerPattern("META-INF/services/dev.rdmarpc.verbs.VerbsProvider");
	}

	private static void properties(RuntimeHints hints, Class<?> type) {
		hints.reflection().registerType(type, MemberCategory.INVOKE_PUBLIC_METHODS);
		for (Class<?> nested : type.getDeclaredClasses()) {
			properties(hints, nested);
		}
	}

}
