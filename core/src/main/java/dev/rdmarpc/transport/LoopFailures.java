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

import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

import dev.rdmarpc.logging.RateLimitedLogger;

/**
 * Says what has failed on a loop that goes on. It does not fail itself: where there is no
 * memory or stack to say it with, it is silent.
 */
final class LoopFailures {

	/**
	 * Made with the class, as everything that is said where there may be no memory: a
	 * literal is made when it is first used, but not one that went through a method.
	 */
	static final String INTERNAL = "internal error".intern();

	private final RateLimitedLogger lines = new RateLimitedLogger(LoggerFactory.getLogger(LoopFailures.class));

	/** Writes a line, or counts it if there are many. */
	void report(Object subject, Throwable failure) {
		try {
			this.lines.log(Level.ERROR, "{} failed", subject, failure);
		}
		catch (Throwable ex) {
			// what failed is more important than that it was not said
		}
	}

	/** What a peer or caller is told of a failure, whose own words may fail too. */
	static String reason(Throwable failure) {
		return reason("", failure);
	}

	/** The same after what it has led to. */
	static String reason(String before, Throwable failure) {
		try {
			return before + "internal error: " + failure;
		}
		catch (Throwable ex) {
			return INTERNAL;
		}
	}

}
