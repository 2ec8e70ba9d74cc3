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

package dev.rdmarpc.boot.connection;

import org.springframework.boot.autoconfigure.service.connection.ConnectionDetails;

/**
 * Has a target be the server in a container that is annotated by
 * {@code @ServiceConnection(name = "prices", type = RdmaTargetConnectionDetails.class)}.
 * The name is that of the target. The type is required, because a name says nothing about
 * what is in the container: it may as well be a database.
 */
class RdmaContainerConnectionDetailsFactory
		extends ServerInContainerFactory<RdmaContainerConnectionDetailsFactory.Registered> {

	/**
	 * The type under which Boot registers the details. It registers no second bean of one
	 * type, but each target has a container of its own. So no bean is of this type.
	 */
	interface Registered extends ConnectionDetails {

	}

}
