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

import java.lang.reflect.Constructor;
import java.lang.reflect.Method;
import java.lang.reflect.Parameter;
import java.lang.reflect.Type;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Objects;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

import dev.rdmarpc.codec.MessageCodec;
import dev.rdmarpc.codec.MethodSignature;
import dev.rdmarpc.logging.RateLimitedLogger;

/**
 * An exception that a method declares, which travels with a failed reply and is made
 * again at the caller. Its message is the text of the reply; its name, and what it holds
 * beyond the message, are metadata of the reply.
 *
 * <p>
 * An exception like a record is made from what it holds: by the constructor whose
 * parameters all have an accessor of the same name and type. Any other is made from its
 * message, by the constructor that takes one text, a text and a cause, or nothing. One
 * that is made from its message, alone or with more, is left out where it then has
 * another one. Thread-safe.
 */
final class DeclaredException {

	/** The name of the class; what it holds, encoded like arguments, is behind it. */
	static final String KEY = "rdma-exception";

	private static final Logger logger = LoggerFactory.getLogger(DeclaredException.class);

	private static final RateLimitedLogger contradictions = new RateLimitedLogger(logger);

	private final String method;

	private final Class<?> type;

	private final @Nullable Constructor<?> constructor;

	private final List<Method> accessors;

	/** Which of what it holds is its message; negative if none is. */
	private final int message;

	private final @Nullable MetadataFormat values;

	DeclaredException(String service, String method, Class<?> type, MessageCodec codec) {
		this.method = service + "/" + method;
		this.type = type;
		Constructor<?> chosen = null;
		List<Method> read = List.of();
		MetadataFormat format = null;
		for (Constructor<?> candidate : likeRecords(type)) {
			read = accessors(type, candidate);
			format = (read.size() == candidate.getParameterCount()) ? format(service, method, candidate, codec) : null;
			if (format != null) {
				chosen = candidate;
				break;
			}
		}
		this.values = format;
		this.accessors = (format != null) ? read : List.of();
		this.message = this.accessors.stream().map(Method::getName).toList().indexOf("getMessage");
		this.constructor = open((chosen != null) ? chosen : ofMessage(type));
	}

	private static List<Constructor<?>> likeRecords(Class<?> type) {
		return Arrays.stream(type.getDeclaredConstructors())
			.filter((constructor) -> constructor.getParameterCount() > 0)
			.sorted(Comparator.comparing((Constructor<?> constructor) -> -constructor.getParameterCount()))
			.toList();
	}

	/**
	 * One for each parameter that has one, unless all there is to hold is the message.
	 */
	private static List<Method> accessors(Class<?> type, Constructor<?> constructor) {
		List<Method> found = new ArrayList<>();
		for (int i = 0; i < constructor.getParameterCount(); i++) {
			Parameter parameter = constructor.getParameters()[i];
			Method accessor = parameter.isNamePresent()
					? accessor(type, parameter.getName(), constructor.getGenericParameterTypes()[i]) : null;
			if (accessor != null) {
				found.add(accessor);
			}
		}
		boolean onlyMessage = found.size() == 1 && found.get(0).getName().equals("getMessage");
		return onlyMessage ? List.of() : found;
	}

	private static @Nullable Method accessor(Class<?> type, String name, Type value) {
		String capitalized = name.substring(0, 1).toUpperCase(Locale.ROOT) + name.substring(1);
		for (String candidate : new String[] { name, "get" + capitalized, "is" + capitalized }) {
			for (Method method : type.getMethods()) {
				if (method.getName().equals(candidate) && method.getParameterCount() == 0
						&& method.getGenericReturnType().equals(value)
						&& (method.getDeclaringClass() != Throwable.class || candidate.equals("getMessage"))) {
					return method.trySetAccessible() ? method : null;
				}
			}
		}
		return null;
	}

	private static @Nullable MetadataFormat format(String service, String method, Constructor<?> constructor,
			MessageCodec codec) {
		List<String> names = Arrays.stream(constructor.getParameters()).map(Parameter::getName).toList();
		try {
			return MetadataFormat.ofArguments(KEY, codec,
					new MethodSignature(service, method + ", exception " + constructor.getName(), names,
							List.of(constructor.getGenericParameterTypes()), void.class));
		}
		catch (RuntimeException ex) {
			logger.debug("{} of {}/{} travels with its message only", constructor.getName(), service, method, ex);
			return null;
		}
	}

	private static @Nullable Constructor<?> ofMessage(Class<?> type) {
		for (Class<?>[] parameters : new Class<?>[][] { { String.class }, { String.class, Throwable.class }, {} }) {
			try {
				return type.getDeclaredConstructor(parameters);
			}
			catch (NoSuchMethodException ex) {
				logger.trace("{} has no such constructor", type, ex);
			}
		}
		return null;
	}

	private static @Nullable Constructor<?> open(@Nullable Constructor<?> constructor) {
		return (constructor != null && constructor.trySetAccessible()) ? constructor : null;
	}

	Class<?> type() {
		return this.type;
	}

	/**
	 * Writes its name and what it holds into the metadata of a reply, if there is room.
	 */
	void write(Throwable failure, CallMetadata metadata) {
		MetadataFormat format = this.values;
		if (format == null) {
			metadata.putReserved(KEY, this.type.getName());
			return;
		}
		try {
			@Nullable Object[] held = new @Nullable Object[this.accessors.size()];
			for (int i = 0; i < held.length; i++) {
				held[i] = this.accessors.get(i).invoke(failure);
			}
			if (!format.write(this.type.getName(), held, metadata)) {
				logger.debug("{} exceeds the room for metadata", this.type);
			}
		}
		catch (ReflectiveOperationException | RuntimeException | StackOverflowError ex) {
			logger.debug("{} does not travel", this.type, ex);
		}
	}

	/**
	 * Makes it again.
	 * @param message the text of the reply
	 * @return {@code null} if it cannot be made
	 */
	@Nullable Throwable read(String message, CallMetadata metadata) {
		Constructor<?> made = this.constructor;
		if (made == null) {
			return null;
		}
		try {
			if (this.values != null) {
				return read(made, this.values, MetadataFormat.Received.of(KEY, metadata));
			}
			String text = message.isEmpty() ? null : message;
			Throwable failure = (Throwable) switch (made.getParameterCount()) {
				case 0 -> made.newInstance();
				case 1 -> made.newInstance(text);
				default -> made.newInstance(text, null);
			};
			return Objects.equals(text, failure.getMessage()) ? failure : null;
		}
		catch (ReflectiveOperationException | RuntimeException ex) {
			logger.debug("{} cannot be made again", this.type, ex);
			return null;
		}
	}

	private @Nullable Throwable read(Constructor<?> made, MetadataFormat format,
			MetadataFormat.@Nullable Received received) throws ReflectiveOperationException {
		if (received == null) {
			return null;
		}
		String contradiction = format.contradictionOf(received);
		if (contradiction != null) {
			contradictions.log(Level.WARN, "{} of {} arrives as a status with its message: {}", this.type.getName(),
					this.method, contradiction);
			return null;
		}
		@Nullable Object[] held = (@Nullable Object[]) Objects.requireNonNull(format.read(received));
		Throwable failure = (Throwable) made.newInstance(held);
		return (this.message < 0 || Objects.equals(held[this.message], failure.getMessage())) ? failure : null;
	}

}
