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

import java.lang.reflect.Constructor;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

import org.springframework.aot.hint.ExecutableMode;
import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.core.ResolvableType;

/**
 * Tells a native image what the interfaces of services and their messages are used for:
 * methods are called, records are made and read, and so are declared exceptions.
 */
final class ContractHints {

	private final RuntimeHints hints;

	private final Set<Type> seen = new HashSet<>();

	ContractHints(RuntimeHints hints) {
		this.hints = hints;
	}

	/** The interface of a service that is served or called. */
	void service(Class<?> type) {
		this.hints.reflection().registerType(type);
		for (Method method : type.getMethods()) {
			if (!Modifier.isStatic(method.getModifiers())) {
				this.hints.reflection().registerMethod(method, ExecutableMode.INVOKE);
				message(ResolvableType.forMethodReturnType(method, type));
				for (int i = 0; i < method.getParameterCount(); i++) {
					message(ResolvableType.forMethodParameter(method, i, type));
				}
				List.of(method.getExceptionTypes()).forEach(this::exception);
			}
		}
	}

	/** A client of a service. */
	void client(Class<?> type) {
		this.hints.proxies().registerJdkProxy(type);
		service(type);
	}

	/** A type of messages, with those that it consists of. */
	void message(ResolvableType type) {
		if (type.isArray()) {
			message(type.getComponentType());
			return;
		}
		for (ResolvableType argument : type.getGenerics()) {
			message(argument);
		}
		Class<?> known = type.resolve();
		if (known == null || isOfThePlatform(known) || !this.seen.add(type.getType())) {
			return;
		}
		this.hints.reflection()
			.registerType(known, MemberCategory.INVOKE_DECLARED_CONSTRUCTORS, MemberCategory.INVOKE_DECLARED_METHODS,
					MemberCategory.ACCESS_DECLARED_FIELDS);
		if (known.isRecord()) {
			for (RecordComponent component : known.getRecordComponents()) {
				message(ResolvableType.forType(component.getGenericType(), type));
			}
		}
		if (known.isSealed()) {
			for (Class<?> permitted : known.getPermittedSubclasses()) {
				message(ResolvableType.forClass(permitted));
			}
		}
	}

	private void exception(Class<?> type) {
		if (!this.seen.add(type)) {
			return;
		}
		if (isOfThePlatform(type)) {
			this.hints.reflection().registerType(type, MemberCategory.INVOKE_PUBLIC_CONSTRUCTORS);
			return;
		}
		this.hints.reflection()
			.registerType(type, MemberCategory.INVOKE_DECLARED_CONSTRUCTORS, MemberCategory.INVOKE_PUBLIC_METHODS);
		for (Constructor<?> constructor : type.getDeclaredConstructors()) {
			for (int i = 0; i < constructor.getParameterCount(); i++) {
				message(ResolvableType.forConstructorParameter(constructor, i));
			}
		}
	}

	private static boolean isOfThePlatform(Class<?> type) {
		return type.isPrimitive() || type.getName().startsWith("java.");
	}

}
