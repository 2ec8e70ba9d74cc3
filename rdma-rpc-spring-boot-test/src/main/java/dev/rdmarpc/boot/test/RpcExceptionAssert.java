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

package dev.rdmarpc.boot.test;

import java.util.Optional;

import org.assertj.core.api.AbstractThrowableAssert;
import org.assertj.core.api.Assertions;
import org.assertj.core.api.ObjectAssert;

import dev.rdmarpc.rpc.RpcException;
import dev.rdmarpc.rpc.RpcStatus;

/** Makes assertions about the failure of a call. */
public final class RpcExceptionAssert extends AbstractThrowableAssert<RpcExceptionAssert, RpcException> {

	RpcExceptionAssert(RpcException actual) {
		super(actual, RpcExceptionAssert.class);
	}

	/** Verifies the status. */
	public RpcExceptionAssert hasStatus(RpcStatus status) {
		if (this.actual.status() != status) {
			failWithMessage("Expecting a failure with status %s but was: %s", status, this.actual);
		}
		return this;
	}

	/** Verifies the text, without status and method. */
	public RpcExceptionAssert hasDetail(String detail) {
		if (!this.actual.detail().equals(detail)) {
			failWithMessage("Expecting a failure with detail \"%s\" but was: %s", detail, this.actual);
		}
		return this;
	}

	/** Verifies a part of the text. */
	public RpcExceptionAssert hasDetailContaining(String part) {
		if (!this.actual.detail().contains(part)) {
			failWithMessage("Expecting a failure with a detail that contains \"%s\" but was: %s", part, this.actual);
		}
		return this;
	}

	/** Verifies that there are details of a type, and goes on with them. */
	public <T extends Record> ObjectAssert<T> details(Class<T> type) {
		Optional<T> details = this.actual.details(type);
		if (details.isEmpty()) {
			failWithMessage("Expecting a failure with details of type %s but was: %s", type.getName(), this.actual);
		}
		return Assertions.assertThat(details.orElseThrow());
	}

}
