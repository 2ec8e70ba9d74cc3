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

package dev.rdmarpc.rpc;

import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.codec.MessageCodec;

/**
 * The exceptions that a method declares, but for those that say nothing, such as
 * {@code Exception}. Callers get them as they were thrown. Thread-safe.
 */
final class DeclaredExceptions {

	private static final Set<Class<?>> GENERAL = Set.of(Throwable.class, Exception.class, RuntimeException.class,
			Error.class, RpcException.class);

	private final List<DeclaredException> declared = new ArrayList<>();

	DeclaredExceptions(String service, String name, Method method, MessageCodec codec) {
		for (Class<?> type : method.getExceptionTypes()) {
			if (!GENERAL.contains(type)) {
				this.declared.add(new DeclaredException(service, name, type, codec));
			}
		}
	}

	/** The nearest declared class of an exception, or {@code null}. */
	@Nullable DeclaredException of(Throwable failure) {
		for (Class<?> type = failure.getClass(); type != null; type = type.getSuperclass()) {
			for (DeclaredException candidate : this.declared) {
				if (candidate.type() == type) {
					return candidate;
				}
			}
		}
		return null;
	}

	/** The exception that a failed reply carries, or {@code null} if there is none. */
	@Nullable Throwable read(String message, CallMetadata metadata) {
		String name = this.declared.isEmpty() ? null : metadata.get(DeclaredException.KEY);
		if (name != null) {
			for (DeclaredException candidate : this.declared) {
				if (candidate.type().getName().equals(name)) {
					return candidate.read(message, metadata);
				}
			}
		}
		return null;
	}

}
