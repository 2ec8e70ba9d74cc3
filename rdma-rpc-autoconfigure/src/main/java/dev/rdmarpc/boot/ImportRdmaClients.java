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

package dev.rdmarpc.boot;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Repeatable;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import org.springframework.context.annotation.Import;
import org.springframework.core.annotation.AliasFor;

/**
 * Registers clients of service interfaces as beans; used on a configuration class. The
 * address, deadlines and limits of the target are configured under
 * {@code rdma.rpc.client.<target>.*}.
 *
 * <p>
 * A client bean is named {@code <target>.<typeName>}, such as
 * {@code orders.orderService}, and has the target as its qualifier. It connects on the
 * first call.
 */
@Documented
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Repeatable(ImportRdmaClients.Container.class)
@Import(RdmaClientsRegistrar.class)
public @interface ImportRdmaClients {

	/** The name of the target in the configuration. */
	String target();

	/** The service interfaces, same as {@link #types}. */
	@AliasFor("types")
	Class<?>[] value() default {};

	/** The service interfaces. */
	@AliasFor("value")
	Class<?>[] types() default {};

	/**
	 * Packages to search, including subpackages, for service interfaces: all interfaces
	 * with abstract methods that are neither sealed nor generic.
	 */
	String[] basePackages() default {};

	/**
	 * The service's name on the wire, if it is not the qualified name of the interface.
	 * Requires exactly one type, which can be another view of the service, for example
	 * one that returns futures.
	 */
	String serviceName() default "";

	/** Several imports on one class. */
	@Documented
	@Target(ElementType.TYPE)
	@Retention(RetentionPolicy.RUNTIME)
	@Import(RdmaClientsRegistrar.class)
	@interface Container {

		/** The imports. */
		ImportRdmaClients[] value();

	}

}
