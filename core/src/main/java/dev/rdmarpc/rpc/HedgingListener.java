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

/**
 * Is told of calls that are hedged, see {@link HedgingOptions}. Called on any thread;
 * must be thread-safe, and not block. What it throws is ignored.
 */
public interface HedgingListener {

	/** Tells nobody. */
	HedgingListener NONE = new HedgingListener() {
	};

	/**
	 * A call is made once more.
	 * @param target the name of the client's target
	 * @param attempt how often it has been made, this time included
	 */
	default void hedged(String target, MethodDescriptor method, int attempt) {
	}

	/**
	 * The answer of a later attempt than the first is the result of the call.
	 * @param attempt which of them it was, from 2 on
	 */
	default void won(String target, MethodDescriptor method, int attempt) {
	}

	/** A call is not made once more, because the budget is used up. */
	default void suppressed(String target, MethodDescriptor method) {
	}

}
