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

import java.util.Set;

/**
 * Reads the properties below {@code rdma.rpc} again while the application runs, and
 * applies those that can change then: deadlines and hedging of clients and of their
 * methods, and how many calls the server runs at once. Spring Cloud's refresh does it by
 * itself.
 *
 * <p>
 * Thread-safe.
 */
public interface RdmaPropertiesRefresh {

	/**
	 * Applies what has changed in the environment since the last time. Calls that have
	 * begun are not concerned, and no connection is lost.
	 * @return the names of the properties whose values now differ from those in effect,
	 * which only a restart of the application changes
	 * @throws org.springframework.boot.context.properties.bind.BindException if there is
	 * an unknown property, or one of another type; nothing has changed then
	 * @throws org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException
	 * if a value is not possible; nothing has changed then
	 */
	Set<String> refresh();

}
