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

package dev.rdmarpc.verbs.disni;

import com.ibm.disni.verbs.IbvContext;

/**
 * An adapter as the connection manager has opened it.
 *
 * @param name what the kernel calls it
 * @param handle names its context
 * @param context its context
 * @param attributes what it can do
 */
record Adapter(String name, long handle, IbvContext context, AdapterAttributes attributes) {

	/** The same with other attributes. */
	Adapter with(AdapterAttributes other) {
		return new Adapter(this.name, this.handle, this.context, other);
	}

}
