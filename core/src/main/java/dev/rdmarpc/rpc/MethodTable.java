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

import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * The methods a server offers, by method id: an open-addressing hash table, so that a
 * look-up allocates nothing. Immutable.
 */
final class MethodTable {

	private final List<ExportedMethod> methods;

	private final @Nullable ExportedMethod[] slots;

	MethodTable(List<ExportedMethod> methods) {
		this.methods = List.copyOf(methods);
		this.slots = new ExportedMethod[Integer.highestOneBit(Math.max(4, methods.size() * 2)) << 1];
		for (ExportedMethod method : methods) {
			ExportedMethod other = find(method.descriptor().id());
			if (other != null) {
				throw new IllegalArgumentException("two methods named " + method.descriptor().fullName()
						+ ", or of the same id as " + other.descriptor().fullName());
			}
			int slot = indexOf(method.descriptor().id());
			while (this.slots[slot] != null) {
				slot = (slot + 1) & (this.slots.length - 1);
			}
			this.slots[slot] = method;
		}
	}

	/** All methods. */
	List<ExportedMethod> all() {
		return this.methods;
	}

	@Nullable ExportedMethod find(long id) {
		int slot = indexOf(id);
		for (ExportedMethod method = this.slots[slot]; method != null; method = this.slots[slot]) {
			if (method.descriptor().id() == id) {
				return method;
			}
			slot = (slot + 1) & (this.slots.length - 1);
		}
		return null;
	}

	private int indexOf(long id) {
		return (int) (id ^ id >>> 32) & (this.slots.length - 1);
	}

}
