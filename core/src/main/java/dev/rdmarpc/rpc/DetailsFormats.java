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
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

import dev.rdmarpc.codec.MessageCodec;
import dev.rdmarpc.codec.MethodSignature;
import dev.rdmarpc.logging.RateLimitedLogger;

/**
 * The details of failures of one method, which travel as metadata of the reply: the name
 * of their class, and what they hold, encoded like a result. The format of a class is
 * compiled when the first details of it are sent or asked for. Thread-safe.
 */
final class DetailsFormats {

	/** The name of the class; what they hold is behind it. */
	static final String KEY = "rdma-details";

	private static final Logger logger = LoggerFactory.getLogger(DetailsFormats.class);

	private static final RateLimitedLogger unsendable = new RateLimitedLogger(logger);

	private static final RateLimitedLogger contradictions = new RateLimitedLogger(logger);

	private final String service;

	private final String method;

	private final MessageCodec codec;

	private final Map<Class<?>, MetadataFormat> formats = new ConcurrentHashMap<>();

	DetailsFormats(String service, String method, MessageCodec codec) {
		this.service = service;
		this.method = method;
		this.codec = codec;
	}

	private MetadataFormat format(Class<?> type) {
		MetadataFormat known = this.formats.get(type);
		if (known == null) {
			known = MetadataFormat.ofResult(KEY, this.codec,
					new MethodSignature(this.service, this.method + ", details", List.of(), List.of(), type));
			this.formats.put(type, known);
		}
		return known;
	}

	/**
	 * Writes details into the metadata of a reply. Without room for them, or for some of
	 * the violations, the reply goes without.
	 */
	void write(Record details, CallMetadata metadata) {
		try {
			MetadataFormat format = format(details.getClass());
			Record shorter = details;
			while (shorter != null && !format.write(details.getClass().getName(), shorter, metadata)) {
				shorter = (shorter instanceof FieldViolations several) ? several.firstHalf() : null;
			}
			if (shorter == null) {
				logger.debug("details of {}/{} exceed the room for metadata: {}", this.service, this.method, details);
			}
		}
		catch (RuntimeException | StackOverflowError ex) {
			unsendable.log(Level.WARN, "A failure of {}/{} is told without its details", this.service, this.method, ex);
		}
	}

	/** The details that a failed reply carries, or {@code null} if there are none. */
	@Nullable FailureDetails read(CallMetadata metadata) {
		MetadataFormat.Received received = MetadataFormat.Received.of(KEY, metadata);
		return (received != null) ? new Received(received) : null;
	}

	/** Those of a peer, decoded when they are asked for. */
	private final class Received implements FailureDetails {

		private final MetadataFormat.Received received;

		Received(MetadataFormat.Received received) {
			this.received = received;
		}

		@Override
		public <T extends Record> @Nullable T as(Class<T> wanted) {
			if (!wanted.getName().equals(this.received.type())) {
				return null;
			}
			try {
				MetadataFormat format = format(wanted);
				String contradiction = format.contradictionOf(this.received);
				if (contradiction != null) {
					contradictions.log(Level.WARN, "{}, details of {}/{}, cannot be read: {}", wanted.getName(),
							DetailsFormats.this.service, DetailsFormats.this.method, contradiction);
					return null;
				}
				return wanted.cast(format.read(this.received));
			}
			catch (RuntimeException ex) {
				logger.debug("details of {}/{} cannot be decoded", DetailsFormats.this.service,
						DetailsFormats.this.method, ex);
				return null;
			}
		}

	}

}
