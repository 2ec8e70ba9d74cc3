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
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import org.springframework.core.annotation.AliasFor;
import org.springframework.stereotype.Component;

/**
 * Marks a bean whose service interfaces are served over RDMA: on its class, on a
 * superclass or interface, or on its bean method. Calls go through the bean as the
 * container has made it, including proxies of aspects. It need not be an autowire
 * candidate.
 *
 * <p>
 * By default the interface of the class is exported, and those that it extends unless
 * several beans have them. Interfaces of the JDK, of Jakarta EE and of Spring are no
 * services, and neither are generic ones. Of several interfaces those are exported that
 * have this annotation themselves.
 */
@Documented
@Component
@Target({ ElementType.TYPE, ElementType.METHOD })
@Retention(RetentionPolicy.RUNTIME)
public @interface RdmaService {

	/** The name of the bean, as in every other stereotype. */
	@AliasFor(annotation = Component.class)
	String value() default "";

	/** The interfaces to export, and no others. */
	Class<?>[] interfaces() default {};

	/**
	 * The service's name on the wire; by default the qualified name of the interface.
	 * Requires exactly one exported interface.
	 */
	String name() default "";

}
