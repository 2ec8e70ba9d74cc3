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

package dev.rdmarpc.boot.observation;

import java.lang.invoke.MethodHandles;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;

import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationConvention;
import io.micrometer.observation.ObservationFilter;
import io.micrometer.observation.ObservationHandler;
import io.micrometer.observation.ObservationHandler.AllMatchingCompositeObservationHandler;
import io.micrometer.observation.ObservationHandler.CompositeObservationHandler;
import io.micrometer.observation.ObservationHandler.FirstMatchingCompositeObservationHandler;
import io.micrometer.observation.ObservationPredicate;
import io.micrometer.observation.ObservationRegistry;
import io.micrometer.observation.ObservationRegistry.ObservationConfig;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What beans and code have added to an observation registry. Micrometer has no method
 * that tells, so the fields of its configuration are read.
 *
 * <p>
 * Implementation notes. The lists are those of the registry itself. They can be read
 * while something is added, and never shrink, so that what is found in them holds as long
 * as the sum of their sizes is the same.
 */
final class RegistryContents {

	private static final Logger logger = LoggerFactory.getLogger(RegistryContents.class);

	/**
	 * Boot's filter and predicate, made from properties. It does what it does for all
	 * calls, so that it is enough to try it with one.
	 */
	private static final String OF_PROPERTIES = "org.springframework.boot.micrometer.observation.autoconfigure."
			+ "PropertiesObservationFilterPredicate";

	private final List<ObservationHandler<?>> handlers;

	private final List<ObservationPredicate> predicates;

	private final List<ObservationConvention<?>> conventions;

	private final List<ObservationFilter> filters;

	@SuppressWarnings("unchecked")
	private RegistryContents(ObservationConfig config) throws ReflectiveOperationException {
		MethodHandles.Lookup lookup = MethodHandles.privateLookupIn(ObservationConfig.class, MethodHandles.lookup());
		this.handlers = (List<ObservationHandler<?>>) read(lookup, "observationHandlers", config);
		this.predicates = (List<ObservationPredicate>) read(lookup, "observationPredicates", config);
		this.conventions = (List<ObservationConvention<?>>) read(lookup, "observationConventions", config);
		this.filters = (List<ObservationFilter>) read(lookup, "observationFilters", config);
	}

	private static Object read(MethodHandles.Lookup lookup, String field, ObservationConfig config)
			throws ReflectiveOperationException {
		return Objects.requireNonNull(lookup.findVarHandle(ObservationConfig.class, field, List.class).get(config),
				field);
	}

	/** The contents of a registry, or {@code null} if they cannot be known. */
	static @Nullable RegistryContents of(ObservationRegistry registry) {
		try {
			return new RegistryContents(registry.observationConfig());
		}
		catch (ReflectiveOperationException | RuntimeException ex) {
			logger.debug("What the observation registry contains cannot be known: each call becomes an observation",
					ex);
			return null;
		}
	}

	/** Increases with everything that is added. */
	int size() {
		return this.handlers.size() + this.predicates.size() + this.conventions.size() + this.filters.size();
	}

	/**
	 * Whether an observation would do nothing but feed meters.
	 * @param example an observation's context, which has not been started
	 */
	boolean feedOnly(CallMeters meters, String name, Observation.Context example) {
		List<ObservationHandler<?>> called = this.handlers.stream()
			.<ObservationHandler<?>>flatMap((handler) -> called(handler, example))
			.toList();
		return called.size() == 1 && meters.areThoseOf(called.get(0))
				&& this.conventions.stream().noneMatch((convention) -> convention.supportsContext(example))
				&& this.predicates.stream()
					.allMatch((predicate) -> isOfProperties(predicate) && predicate.test(name, example))
				&& this.filters.stream().allMatch((filter) -> isOfProperties(filter) && isWithout(filter.map(example)));
	}

	private static Stream<? extends ObservationHandler<?>> called(ObservationHandler<?> handler,
			Observation.Context example) {
		if (handler.getClass() == FirstMatchingCompositeObservationHandler.class) {
			return members(handler, example).limit(1).flatMap((member) -> called(member, example));
		}
		if (handler.getClass() == AllMatchingCompositeObservationHandler.class) {
			return members(handler, example).flatMap((member) -> called(member, example));
		}
		return handler.supportsContext(example) ? Stream.of(handler) : Stream.empty();
	}

	private static Stream<ObservationHandler<Observation.Context>> members(ObservationHandler<?> composite,
			Observation.Context example) {
		return ((CompositeObservationHandler) composite).getHandlers()
			.stream()
			.filter((member) -> member.supportsContext(example));
	}

	private static boolean isOfProperties(Object added) {
		return added.getClass().getName().equals(OF_PROPERTIES);
	}

	private static boolean isWithout(Observation.Context context) {
		return context.getAllKeyValues().stream().findAny().isEmpty();
	}

}
