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

package dev.rdmarpc.transport;

import java.io.IOException;

/** What code may throw, as far as the Java virtual machine is concerned. */
enum Failure {

	UNCHECKED {
		@Override
		Throwable create() {
			return new IllegalStateException("thrown by the test");
		}
	},

	ERROR {
		@Override
		Throwable create() {
			return new OutOfMemoryError("thrown by the test");
		}
	},

	/** As Kotlin and sneaky throws have it. */
	CHECKED {
		@Override
		Throwable create() {
			return new IOException("thrown by the test");
		}
	},

	/** One that cannot even be described. */
	SPEECHLESS {
		@Override
		Throwable create() {
			return new Speechless();
		}
	};

	abstract Throwable create();

	/** Throws it, though nobody expects that. */
	void fire() {
		Failure.<RuntimeException>throwAny(create());
	}

	@SuppressWarnings("unchecked")
	private static <T extends Throwable> void throwAny(Throwable failure) throws T {
		throw (T) failure;
	}

	private static final class Speechless extends RuntimeException {

		@Override
		public String getMessage() {
			throw new IllegalStateException("no words");
		}

	}

}
